"""Versions to test with, as files for pip: ``python -m tests.dependencies lowest > constraints.txt``.

``lowest``: the lower bounds of pyproject.toml; ``pinned``: requirements.txt; ``newest``: whatever the bounds allow, so
that nothing is constrained; ``tools``: what the tests need besides the package, without versions.
"""

import re
import sys
import tomllib
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]


def lowest():
    """``name==version`` of each dependency and extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = chain(project["dependencies"], *project["optional-dependencies"].values())
    bounds = [re.match(r"([\w-]+)>=([\w.]+)", text) for text in asked if not text.startswith(project["name"])]
    return [f"{found[1]}=={found[2]}" for found in bounds]


def pinned(name):
    return [line for line in (ROOT / name).read_text(encoding="utf-8").splitlines() if not line.startswith("-r")]


def tools():
    return [line.partition("==")[0] for line in pinned("requirements-dev.txt")]


if __name__ == "__main__":
    files = {"lowest": lowest, "pinned": lambda: pinned("requirements.txt"), "newest": list, "tools": tools}
    print("\n".join(files[sys.argv[1]]()))
