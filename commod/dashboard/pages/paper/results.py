"""The committed results that the Paper page reads, or a sentence that says how to make one."""

from functools import lru_cache
from typing import Any

import pandas as pd
import streamlit as st

from commod.datasets import TASKS
from commod.experiments.results import read_result, results_directory


@lru_cache(maxsize=16)
def read(name: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A result and how it was made."""
    return read_result(results_directory() / f"{name}.parquet")


def result(name: str, data: str = "") -> pd.DataFrame | None:
    """A result (that has models of a data set), or None and a sentence that says how to make it."""
    try:
        frame = read(name)[0]
    except ValueError as error:
        st.warning(str(error), icon=":material/warning:")
        return None
    if data and data not in set(frame["dataset"]):
        st.warning(
            f"{name}.parquet was made without {TASKS[data].title}: make it with 'python -m commod paper {name}'.",
            icon=":material/warning:",
        )
        return None
    return frame


def versions() -> str:
    """How the results were made."""
    try:
        about = read("table1")[1]
    except ValueError:
        return ""
    packages = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    return f"{about['splits']} splits; Python {about['python']}, {packages}."
