"""The examples run as their docstrings say, are short, and print what a reader can check."""

import re
import runpy

import pytest

from tests.browsing import ROOT

EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
PRINTED = {
    "quick_start": [r"accuracy +f 0\.\d+ +g 0\.\d+ \[0\.\d+, 0\.\d+\]", r"\d+ of 1376 decisions changed"],
    "only_scores": [r"g: P-Rule 0\.[89]\d+", r"decides the same about everybody: True"],
    "dask_sweep": [r"12 of them are finished", r"36 models trained here have the same digits"],
}


def test_all_are_tried():
    assert set(PRINTED) == set(EXAMPLES)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name == "dask_sweep" else ()) for name in EXAMPLES],
)
def test_an_example_is_short_and_runs(name, capsys):
    text = (ROOT / "examples" / f"{name}.py").read_text()
    assert len(text.splitlines()) < 50
    assert f"python -m examples.{name}" in " ".join(text.split())
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        runpy.run_module(f"examples.{name}", run_name="__main__")
    printed = capsys.readouterr().out
    for pattern in PRINTED[name]:
        assert re.search(pattern, printed), printed
