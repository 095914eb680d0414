"""What is installed: the files that come with the project, and the packages that only a part of it needs."""

import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["MissingExtraError", "needs_extra", "shipped", "unreadable_settings", "versions_of"]


class MissingExtraError(ImportError, ValueError):
    """Something that was asked for needs a package that is not installed; the message says what to install.

    A `ValueError` as well, as every request that cannot be met: callers who catch those catch this.
    """


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """Turn a failed import in the block into a MissingExtraError: one sentence that says which extra to install.

    `what` needs the package and is the subject of that sentence.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == "commod":  # a fault of ours, and no package would mend it
            raise
        raise MissingExtraError(
            f"{what} needs {package}, which is an optional extra: pip install 'commod-explorer[{extra}]'."
        ) from error


def shipped(name: str) -> Path:
    """Path of what lies at the top of the checkout (``app.py``, ``data``), here or in an installed package.

    The wheel has these files in ``commod/explorer``: site-packages is shared, no place for a folder named ``data``.
    """
    inside = Path(__file__).parent / "explorer"
    return (inside if inside.is_dir() else Path(__file__).parents[1]) / name


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """The versions of those packages that are installed."""
    found = {}
    for name in packages:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def unreadable_settings(files: Iterable[Path]) -> str:
    """One line that names the first file that is there and no TOML, and what is wrong; empty if there is none."""
    for path in files:
        try:
            tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:  # a folder, no UTF-8, no TOML: that tells its line
            return f"{path} cannot be read: {error}."
    return ""
