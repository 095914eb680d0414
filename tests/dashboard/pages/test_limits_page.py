"""The Limits page, and the target on the Explore page."""

import re
import time

import pytest

from commod.dashboard.jobs import service
from commod.dashboard.pages.explore import target
from commod.experiments import prepare
from commod.experiments import target as search
from tests.dashboard.driving import fine, run, slider, tables, words
from tests.snapshots import file_of
from tests.waiting import wait_until

LIMITS = "pages/limits.py"


@pytest.fixture(autouse=True)
def short_search(monkeypatch):
    monkeypatch.setattr(search, "COARSE_FAIR", (0.0, 2.0, 5.0))
    monkeypatch.setattr(search, "COARSE_RATIO", (0.05,))
    monkeypatch.setattr(search, "_around", lambda lambdas: [])


def level(app):
    return next(s for s in app.select_slider if s.key and s.key.startswith("limits_level"))


@pytest.fixture
def said():
    """What the page says, as its snapshot has it, which is compared with the page."""
    return file_of("limits", "law_school", "en").read_text(encoding="utf-8")


def test_what_cannot_be_had_together_is_told_with_the_numbers(said):
    told = re.findall(r"White: g \| (\d+\.\d)%", said)
    test = prepare("law_school").test
    assert [float(share) for share in told] == pytest.approx(
        [100 * test.y[test.sensitive == s].mean() for s in (0, 1)], abs=0.06
    )
    for heading in ("Predictive parity", "Fewest changes", "PPV", "FNR"):
        assert heading in said


@pytest.mark.slow
def test_both_sliders_move_the_sentence_and_stay_in_the_link():
    app = run(LIMITS, methods="commod")
    fine(app.select_slider(key="limits_budget").set_value(0.1).run())
    assert "137 decisions changed (10%)" in words(app)
    assert "The fairest with at most 10% of the decisions changed" in tables(app)
    fine(level(app).set_value(0.6).run())
    assert "P-Rule of 0.6 or more" in words(app)
    assert app.query_params["budget"] == "0.1"
    assert app.query_params["level"] == "0.6"
    again = fine(run(LIMITS, methods="commod", budget="0.1", level="0.6"))
    assert words(again) == words(app)


@pytest.mark.slow
def test_limits_under_equalized_odds():
    app = fine(run(LIMITS, methods="commod,oracle_lpp", data="compas", fairness="equalized_odds"))
    best = tables(app)["The fairest with at most 5% of the decisions changed"]
    assert [row[0] for row in best] == ["f, nothing changed", "Limit", "COMMOD", "Oracle LPP ○"]
    assert best[1][1] == "0.000"
    assert "**Proposition 4.5** as printed" in words(app)


@pytest.mark.slow
def test_what_compare_calls_broken_is_not_said_to_get_there():
    app = fine(run(LIMITS, methods="commod", data="hiring", level="0.8"))
    assert "COMMOD does not get there." in words(app)  # with 43% changed, one model would


@pytest.mark.slow
def test_limits_without_a_method_still_has_the_bound():
    app = fine(run(LIMITS, methods="oracle_lpp"))
    assert "must change**, whatever the method." in words(app)
    assert not re.search("COMMOD.* (needs|does not get there)", words(app))


@pytest.mark.parametrize(
    "wrong",
    [
        {"budget": "nan", "level": "<b>"},
        pytest.param({"budget": "1e999"}, marks=pytest.mark.slow),
        pytest.param({"budget": "-3", "level": ""}, marks=pytest.mark.slow),
    ],
)
def test_limits_with_a_hostile_link(wrong):
    fine(run(LIMITS, methods="commod", **wrong))


def ask(app, fairness, change):
    app.number_input(key="target_fairness_law_school_demographic_parity").set_value(fairness)
    app.number_input(key="target_change_law_school_demographic_parity").set_value(change)
    return next(b for b in app.button if b.label == "Find the setting").click().run()


def test_a_target_sets_the_sliders_and_undo_brings_the_old_back():
    app = run()
    fine(ask(app, 0.4, 20.0))
    assert "Found: a P-Rule of at least 0.4 with at most 20.0% changed" in app.success[0].value
    assert "On test: P-Rule 0." in app.success[0].value
    found = (slider(app, "lambda_fair").value, slider(app, "lambda_ratio").value)
    assert found == (2.0, 0.0)
    fine(next(b for b in app.button if b.label == "Undo").click().run())
    assert slider(app, "lambda_fair").value == 3.0
    assert not app.success
    fine(next(b for b in app.button if b.label == "Redo").click().run())
    assert (slider(app, "lambda_fair").value, slider(app, "lambda_ratio").value) == found
    assert app.success


@pytest.mark.slow
def test_a_wish_that_cannot_be_met_is_answered_and_offers_the_nearest():
    app = run()
    fine(ask(app, 0.8, 8.0))
    assert (
        "Cannot be promised with 90% confidence: a P-Rule of at least 0.8 with at most 8.0% changed"
        in app.warning[0].value
    )
    assert slider(app, "lambda_fair").value == 3.0  # nothing moved
    near = next(b for b in app.button if b.label == "Fairest with at most 8.0%")
    fine(near.click().run())
    assert slider(app, "lambda_fair").value == 2.0
    assert app.warning  # the answer stands until it is closed
    fine(next(b for b in app.button if b.label == "Close").click().run())
    assert not app.warning


@pytest.mark.slow  # so does Undo, above
def test_another_data_set_drops_the_answer():
    app = run()
    ask(app, 0.8, 8.0)
    fine(app.selectbox(key="set_data").set_value("german").run())
    assert not app.warning


@pytest.mark.parametrize(
    ("error", "says"), [(ValueError("too few"), "too few"), (RuntimeError("x"), "a fault of ours")]
)
def test_a_search_that_fails_says_so_and_nothing_is_lost(monkeypatch, error, says):
    def fails(*arguments, **more):
        raise error

    app = run()
    monkeypatch.setattr("commod.dashboard.jobs.tasks.find_settings", fails)
    ask(app, 0.33, 7.0)
    assert not app.exception
    assert says in app.error[0].value
    assert slider(app, "lambda_fair").value == 3.0


@pytest.fixture
def endless_search(monkeypatch):
    """It tries three settings, and then goes on until somebody stops it."""

    def try_all(self, lambdas, told):
        for each in [*lambdas][:3]:
            self.tried[each] = self._try(each)
            told()
        while True:
            told()
            time.sleep(0.01)

    monkeypatch.setattr(search.Search, "try_all", try_all)


def test_a_search_can_be_stopped(monkeypatch, endless_search):
    app = run()
    monkeypatch.setattr(target, "pending", lambda place: None)  # as if the script were still waiting
    ask(app, 0.41, 9.0)
    stop = next(b for b in app.button if b.label == "Stop the search")
    abandoned = service.queue().abandoned
    fine(stop.click().run())
    assert any(b.label == "Find the setting" for b in app.button)
    wait_until(lambda: service.queue().abandoned > abandoned)  # the work ends


@pytest.mark.slow
def test_what_a_stopped_search_has_found_can_be_opened(monkeypatch, endless_search):
    app = run()
    monkeypatch.setattr(target, "pending", lambda place: None)  # as if the script were still waiting
    ask(app, 0.42, 9.0)
    ticket = app.session_state["held_target"].ticket
    wait_until(lambda: ticket.found is not None and ticket.found.tried > 1)
    fine(app.run())
    assert re.match(r"\d+ of about 22 settings tried. Best so far: a P-Rule of", app.get("progress")[0].proto.text)
    fine(next(b for b in app.button if b.label == "Stop the search").click().run())
    found = app.session_state["held_target"].stopped
    assert f"Stopped after {found.tried} of about 22 settings" in app.info[0].value
    fine(next(b for b in app.button if b.label == "Open the best so far").click().run())
    assert slider(app, "lambda_fair").value == found.settings["lambda_fair"]
    fine(next(b for b in app.button if b.label == "Close").click().run())
    assert not app.info
