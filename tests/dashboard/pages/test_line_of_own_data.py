"""Own data with an odd f: scores of the other outcome, a rare outcome, f fair already; and where they open."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from tests.dashboard.driving import fine, run, slider, words

PAGE = "pages/your_data.py"


def people(n=3000, rate=0.5, gap=1.0):
    """A table of patients, with the scores of a model that is as sure as it may be."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, n)
    x, z = rng.normal(size=(2, n))
    logit = np.log(rate / (1 - rate)) + x + gap * (group - 0.5)
    sick = rng.random(n) < expit(logit)
    return pd.DataFrame(
        {
            "x": x.round(3),
            "z": (z + group).round(3),
            "gender": np.where(group == 1, "f", "m"),
            "accepted": np.where(sick, "yes", "no"),
            "score": expit(logit).round(4),
        }
    )


def opened(monkeypatch, table):
    """The page with a table in it."""
    app = run(PAGE)
    monkeypatch.setattr("commod.dashboard.pages.your_data.page._example", lambda: table.to_csv(index=False).encode())
    return fine(next(b for b in app.button if b.label == "Open it here").click().run())


def use(app):
    return next(b for b in app.button if b.label == "Use these data")


def told(app):
    return " ".join(box.value for box in [*app.warning, *app.info, *app.success, *app.markdown])


@pytest.mark.slow
def test_turned_scores_have_to_be_answered_for(monkeypatch):
    table = people()
    app = opened(monkeypatch, table.assign(score=1 - table["score"]))
    assert "seem to be of the other outcome" in told(app)
    assert use(app).disabled
    (question,) = [radio for radio in app.radio if radio.label == "The scores"]
    assert question.value is None
    fine(question.set_value(True).run())
    assert not use(app).disabled
    fine(use(app).click().run())
    fine(app.switch_page("app.py").run())
    assert "seem to be of the other outcome" not in told(app)


@pytest.mark.slow  # they have to be answered for, above
def test_scores_left_turned_are_never_called_a_success(monkeypatch):
    table = people()
    app = opened(monkeypatch, table.assign(score=1 - table["score"]))
    (question,) = [radio for radio in app.radio if radio.label == "The scores"]
    fine(question.set_value(False).run())
    fine(use(app).click().run())
    fine(app.switch_page("app.py").run())
    assert "seem to be of the other outcome" in told(app)


@pytest.mark.parametrize("scores", ["score", pytest.param("", marks=pytest.mark.slow)])
def test_a_rare_outcome_gets_a_cut_off_at_which_there_is_something_to_decide(monkeypatch, scores):
    app = opened(monkeypatch, people(4000, rate=0.03))
    fine(app.toggle(key="own_sealed").set_value(False).run())  # all of the few who are accepted
    if not scores:
        box = next(box for box in app.selectbox if box.label == "The model f")
        fine(box.set_value("").run())
    (line,) = [box for box in app.number_input if box.label.startswith("Cut-off of f")]
    proposed = line.value
    assert 0.02 < proposed < 0.3
    fine(use(app).click().run())
    fine(app.switch_page("app.py").run())
    assert app.number_input(key="set_threshold").value == pytest.approx(proposed)
    assert re.search(r"\d+ of \d+ changes (undo|correct) a", words(app))  # somebody does change


@pytest.mark.slow
@pytest.mark.with_start
def test_a_fair_f_opens_at_rest_and_says_so(monkeypatch):
    app = opened(monkeypatch, people(gap=0.0).assign(z=0.5))
    assert "little that demographic parity would correct" in told(app)
    fine(use(app).click().run())
    assert "the pages open with f as it is" in told(app)
    fine(app.switch_page("app.py").run())
    assert slider(app, "lambda_fair").value == 0.0


@pytest.mark.slow  # tests/experiments/test_start.py says where; a fair f opens above
@pytest.mark.with_start
def test_own_data_open_where_half_of_the_fairness_is_bought(monkeypatch):
    app = opened(monkeypatch, people())
    fine(use(app).click().run())
    assert "These data open by multiplying and shifting" in told(app)
    fine(app.switch_page("app.py").run())
    chosen = slider(app, "lambda_fair").value
    assert chosen > 0
    assert app.selectbox(key="set_update").value == "affine"
    fine(slider(app, "lambda_fair").set_value(9.0).run())
    next(b for b in app.button if b.label == "Reset").click()
    assert slider(fine(app.run()), "lambda_fair").value == chosen


def test_an_f_that_is_worse_than_a_constant_is_used_on_request_only(monkeypatch):
    table = people(rate=0.15)
    app = opened(monkeypatch, table.assign(score=(table["score"] + 0.35).clip(0, 1)))
    assert "Such a model has nothing to keep" in told(app)
    assert use(app).disabled
    (question,) = [box for box in app.checkbox if box.label.startswith("f does worse than always saying the same")]
    fine(question.check().run())
    fine(use(app).click().run())
    fine(app.switch_page("app.py").run())
    assert "Such a model has nothing to keep" in told(app)
