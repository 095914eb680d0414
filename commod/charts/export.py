"""Charts as files, drawn on the server without a browser."""

from io import BytesIO, StringIO
from typing import Any, Literal

from commod.installation import needs_extra


def export_chart(chart: Any, kind: Literal["png", "svg"], *, width: int | None = 900) -> bytes:
    """A chart as PNG (at double resolution) or SVG, on white; `width` in pixels, None for a chart that has its own."""
    with needs_extra("A chart as a file", "app"):
        import vl_convert  # noqa: F401 - altair saves with it
    sized = chart.properties(background="white")
    if width is not None:
        sized = sized.properties(width=width)
    if kind == "svg":
        text = StringIO()
        sized.save(text, format="svg")
        return text.getvalue().encode()
    image = BytesIO()
    sized.save(image, format="png", scale_factor=2)
    return image.getvalue()
