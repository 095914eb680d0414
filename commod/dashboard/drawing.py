"""Altair charts on a page at the price of their data: each specification is built once and cached as a dict."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pandas as pd
import streamlit as st

__all__ = ["draw", "forget_specifications"]


@lru_cache(maxsize=64)
def _specification(plot: Callable[..., Any], options: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    spec = plot(pd.DataFrame(), **dict(options)).to_dict()
    spec.pop("data", None)
    spec.pop("datasets", None)
    return spec


def draw(
    plot: Callable[..., Any],
    frame: pd.DataFrame,
    *,
    alt: str,
    place: Any = st,
    key: str | None = None,
    on_select: Any = "ignore",
    **options: Any,
) -> Any:
    """Draw ``plot(frame, **options)`` at `place`.

    `alt` names the chart for those who cannot see it and must not depend on the data: it is part of the specification,
    and only while that stays the same does the browser move the marks instead of building the chart anew. The values
    belong into a caption or a table beside it.
    """
    spec = _specification(plot, tuple(sorted(options.items())))
    return place.vega_lite_chart(frame, spec, key=key, on_select=on_select, alt=alt, width="stretch")


def forget_specifications() -> None:
    """Drop all specifications that are kept: some hold the names of groups."""
    _specification.cache_clear()
