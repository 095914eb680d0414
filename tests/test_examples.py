"""The examples run as their docstrings say, are short, and print what a reader can check."""

import re
import runpy
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from commod import Commod, load_task
from tests.browsing import ROOT

EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
PRINTED = {
    "quick_start": [r"accuracy +f 0\.\d+ +g 0\.\d+ \[0\.\d+, 0\.\d+\]", r"\d+ of 1376 decisions changed"],
    "only_scores": [r"g: P-Rule 0\.[89]\d+", r"decides the same about everybody: True"],
    "aequitas_flow": [r"f: P-Rule 0\.\d+\ng: P-Rule 0\.\d+", r"decisions changed: \d+\.\d%"],
    "fairlearn_check": [r"demographic_parity: .* fairer: True", r"equalized_odds: .* fairer: True"],
    "dask_sweep": [r"12 of them are finished", r"36 models trained here have the same digits"],
}
# Packages without which an example is not run.
NEEDS = {"fairlearn_check": ["fairlearn"]}


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
    for package in NEEDS.get(name, ()):
        pytest.importorskip(package)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        patch.delitem(sys.modules, f"examples.{name}", raising=False)  # another test may have imported it
        runpy.run_module(f"examples.{name}", run_name="__main__")
    printed = capsys.readouterr().out
    for pattern in PRINTED[name]:
        assert re.search(pattern, printed), printed


def test_the_adapter_decides_as_commod_does_and_asks_for_no_group():
    adapter = pytest.importorskip("examples.aequitas_flow").CommodPostProcessing(lambda_fair=2.0)
    task = load_task("law_school")
    train, test = task.split(seed=0)
    f = task.base_model(LogisticRegression(max_iter=1000)).fit(train.X, train.y)
    scores = [pd.Series(f.predict_proba(part.X)[:, 1], part.X.index) for part in (train, test)]
    assert adapter.fit(train.X, scores[0], train.y, train.sensitive) is None
    g = Commod(f, lambda_fair=2.0).fit(train.X, train.y, sensitive_features=train.sensitive)
    found = adapter.transform(test.X, scores[1])
    np.testing.assert_allclose(found, g.predict_proba(test.X)[:, 1], atol=1e-9)
    assert found.index.equals(test.X.index)


def test_the_adapter_is_a_method_of_aequitas_flow():
    base = pytest.importorskip(
        "aequitas.flow.methods.postprocessing.postprocessing",
        reason="Aequitas, with all that examples/aequitas_flow.py names, is not installed",
    )
    assert issubclass(pytest.importorskip("examples.aequitas_flow").CommodPostProcessing, base.PostProcessing)
