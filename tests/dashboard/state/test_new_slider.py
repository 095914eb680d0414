"""A slider is one declaration: added to a copy of the project, it is wherever settings are."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.browsing import ROOT

# One field of `Settings`, and what the glossary says of it.
SLIDER = """
    sparsity_weight: float = control(
        1.0,
        "Weight of sparsity",
        grid=(0.0, 0.5, 1.0, 2.0),
        argument="sparsity_weight",
        word="sparsity_weight",
        optional=True,
    )
"""
WORD = """
[word.sparsity_weight]
title = "Weight of sparsity"
chapter = "Sliders"
tip = "How much sparsity counts."
"""


@pytest.mark.slow
def test_a_slider_is_one_declaration(tmp_path):
    for name in ("commod", "tests", "pages", "data"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("app.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    settings = tmp_path / "commod/dashboard/state/settings.py"
    before, after = settings.read_text().split("\n    seed: int = ")
    settings.write_text(f"{before}{SLIDER}    seed: int = {after}")
    with (tmp_path / "commod/dashboard/text/glossary.toml").open("a") as glossary:
        glossary.write(WORD)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/dashboard/state/new_slider.py"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 passed" in done.stdout
