"""Results as tidy Parquet files that say how they were made."""

import json
import platform
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from commod.datasets import data_directory
from commod.installation import versions_of

__all__ = ["read_result", "results_directory", "write_result"]

PACKAGES = ("numpy", "scikit-learn", "scipy", "torch", "fairlearn", "pandas")


def results_directory() -> Path:
    """The folder with results of the paper's experiments."""
    return data_directory() / "results"


def write_result(frame: pd.DataFrame, path: Path, about: dict[str, Any]) -> None:
    """Write a frame with its settings, seeds and versions inside; the same content gives the same file."""
    described = {**about, "python": platform.python_version(), "versions": versions_of(PACKAGES)}
    table = pa.Table.from_pandas(frame, preserve_index=False)
    table = table.replace_schema_metadata({"commod": json.dumps(described, sort_keys=True)})
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, compression="zstd")


def read_result(path: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A result and how it was made; ValueError if the file is missing or not one of ours."""
    try:
        table = pq.read_table(path)
        about = json.loads((table.schema.metadata or {})[b"commod"])
        return table.to_pandas(), about
    except (OSError, KeyError, ValueError, pa.ArrowException) as error:
        what = f"There is no result {path.name}" if not path.is_file() else f"The result {path.name} is damaged"
        raise ValueError(f"{what}: make it with 'python -m commod paper {path.stem}'.") from error
