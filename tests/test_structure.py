"""Imports go one way, and Streamlit stays in the dashboard: read from the source, not from memory."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# A package may import from those before it and from itself. charts is a leaf: it imports nothing of ours.
ORDER = ["uploads", "datasets", "metrics", "models", "explain", "theory", "experiments", "dashboard"]
TOP = {"__init__", "__main__", "cli", "portable"}
SOURCES = sorted((ROOT / "commod").rglob("*.py"))


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module


def package(path):
    parts = path.relative_to(ROOT / "commod").with_suffix("").parts
    return parts[0]


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_one_way(path):
    home = package(path)
    for module in imported(path):
        if module.split(".")[0] == "streamlit":
            assert home == "dashboard", f"{path.name} imports Streamlit"
        if not module.startswith("commod."):
            assert module != "commod" or home in TOP | {"dashboard"}, f"{path.name} imports the top-level package"
            continue
        used = module.split(".")[1]
        if home in TOP or used == home:
            continue
        if home == "charts":
            pytest.fail(f"{path.name}: charts is a leaf but imports {module}")
        allowed = [*ORDER[: ORDER.index(home)], *(["charts"] if home in ("experiments", "dashboard") else [])]
        assert used in allowed, f"{home}/{path.name} imports {module}"


def test_every_package_has_its_place():
    folders = {p.name for p in (ROOT / "commod").iterdir() if p.is_dir() and any(p.rglob("*.py"))}
    assert folders <= {*ORDER, "charts"}


def test_nothing_is_called_utils():
    assert not [p for p in SOURCES if p.stem in {"utils", "helpers", "misc", "common"}]
