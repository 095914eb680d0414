"""Files as the browser brings them: taken once, or refused with a sentence."""

from collections import deque

from commod.dashboard.streamlit_internals import missing_upload, uploaded_file

# Files that were not taken, and why, until their page has said so.
_refused: deque[tuple[str, str]] = deque(maxlen=200)


class UploadError(ValueError):
    """Why a file was not taken, in a sentence for the page."""


def refuse(file_id: str, why: str) -> None:
    """Have the page say why a file was not taken."""
    _refused.append((file_id, why))


def take_upload(key: str) -> tuple[str, bytes] | None:
    """Name and content of an uploaded file, once; UploadError if the server had no room for it."""
    if why := dict(_refused).get(missing_upload(key) or ""):
        raise UploadError(why)
    return uploaded_file(key)
