"""Limits on the update, as a stakeholder sets them: direction, features kept out, and why."""

from dataclasses import replace

import numpy as np
import pytest

from commod.dashboard.model.training import fit_result
from commod.dashboard.pages.take_home.report import report_html
from commod.dashboard.state.controls import join, split
from commod.dashboard.state.link import from_link, to_link
from commod.dashboard.state.recipe import to_python
from commod.dashboard.state.runs_file import Run, default_name, read_runs, write_runs
from commod.dashboard.state.settings import CONTROLS, defaults, in_words, limits_in_words
from commod.datasets import load_task
from commod.experiments.limits import limits_of
from tests.dashboard.driving import captions, fine, run, tables, words
from tests.dashboard.refitting import refits

REASON = "50 % of *them* ~ cannot, <b>change</b> it"
LIMITED = replace(defaults("law_school"), direction="improve", without="lsat,sex", reason=REASON)


def press(app, label):
    return fine(next(b for b in app.button if b.label == label).click().run())


def test_the_page_trains_it_and_says_what_the_paper_s_form_gives():
    app = run(**to_link(LIMITED))
    app.session_state["numbers"] = True
    fine(app.run())
    free = fit_result(defaults("law_school"))
    here = app.session_state["held_explore"].last_good
    assert here.g.rescaler_.acts_on == "negative"
    assert here.g.coef_["lsat"] == 0
    assert here.changes["lowered"].sum() == 0 < here.changes["raised"].sum()
    assert "Nobody loses the better decision; the update does not use LSAT score and Sex" in captions(app)
    (papers,) = (button.label for button in app.button if button.key == "other_form")
    fairness, accuracy = (free.figures.loc[name, "g"] for name in ("p_rule", "accuracy"))
    assert accuracy < here.figures.loc["accuracy", "g"]
    lost = 100 * (here.figures.loc["accuracy", "g"] - accuracy)
    assert papers.startswith("Try “the paper’s form”: P-Rule ")
    assert f" → {fairness:.3f}, accuracy −{lost:.1f} points, changes " in papers
    assert "no limits on the update" in captions(app)


def test_nothing_is_said_where_nothing_is_limited():
    app = fine(run())
    assert "Nobody loses" not in captions(app)
    assert "no limits" not in captions(app)
    assert "set_reason" not in [widget.key for widget in app.text_input]


@pytest.mark.slow
def test_the_controls_move_it_and_undo_takes_it_back():
    app = fine(run())
    app.multiselect(key="set_without").set_value(["sex", "lsat"]).run()
    assert fine(app).query_params["without"] == "lsat,sex"  # in the order of the table: equal settings are equal
    app.text_input(key="set_reason").set_value("  because  ").run()
    assert fine(app).query_params["reason"] == "because"
    assert "(because)" in captions(app)
    app.selectbox(key="set_direction").set_value("improve").run()
    assert fine(app).query_params["direction"] == "improve"
    press(app, "Undo")
    assert app.query_params["direction"] == "both"
    press(app, "Undo")
    press(app, "Undo")
    assert "without" not in app.query_params
    assert app.multiselect(key="set_without").value == []
    press(app, "Redo")
    assert app.multiselect(key="set_without").value == ["lsat", "sex"]
    press(app, "Reset")
    assert "without" not in app.query_params


@pytest.mark.slow  # links are checked below
def test_another_data_set_has_other_features():
    app = fine(run(without="lsat", reason="old"))
    app.selectbox(key="set_data").set_value("german").run()
    assert {"without", "reason"}.isdisjoint(fine(app).query_params)
    assert "housing" in dict(zip(load_task("german").X, app.multiselect(key="set_without").options, strict=True))


@pytest.mark.parametrize(
    ("wrong", "kept", "says"),
    [
        ("race", "", "“race”, which holds what is no feature here: none is used"),
        ("race,lsat", "lsat", "“race,lsat”, which holds what is no feature here: LSAT score is used"),
        (join(load_task("law_school").X), "", "which leaves no feature: none is used"),
    ],
)
def test_a_link_that_keeps_out_what_is_not_there_or_everything_is_said(wrong, kept, says):
    found, (notice,) = from_link({"without": wrong})
    assert found == replace(defaults("law_school"), without=kept)
    assert notice.startswith("The link asks for kept out = ")
    assert says in notice


def test_a_reason_for_nothing_is_none():
    assert from_link({"reason": "because"}) == (defaults("law_school"), [])
    assert replace(LIMITED, without="").reason == ""


def test_names_with_any_sign_in_them_are_kept_apart():
    names = ("a,b", "50 %", "%2C", "ü")
    assert split(join(names)) == names
    assert split("") == ()


@pytest.mark.parametrize(
    ("name", "forged"), [("without", ["race"]), ("without", 3), ("without", [["lsat"]]), ("reason", 3)]
)
def test_a_forged_value_is_not_taken(name, forged):
    control = CONTROLS[name]
    assert not control.takes(control.from_widget(forged, "law_school"), "law_school")


def test_saved_runs_have_it_in_file_name_and_table():
    runs = [Run("A", LIMITED), Run("B", defaults("law_school"))]
    assert read_runs(write_runs(runs, {}).encode()) == (runs, [])
    assert default_name(LIMITED).startswith("Law School (balanced): λ_fair 3 …")
    page = fine(run("pages/runs.py", pinned=runs))
    rows = {row[0]: row[2:] for row in tables(page)["The runs side by side"]}
    assert rows["Direction"] == ["nobody loses the better decision", "both ways (the paper)"]
    assert rows["Kept out"] == ["LSAT score and Sex", "none"]
    assert rows["Why they are kept out"] == [REASON, ""]


def test_files_from_before_mean_no_limit():
    text = write_runs([Run("A", LIMITED)], {})
    for name in ("direction", "without", "reason"):
        text = "\n".join(line for line in text.splitlines() if f'"{name}"' not in line)
    assert read_runs(text.encode()) == ([Run("A", defaults("law_school"))], [])


@pytest.mark.slow
def test_report_and_python_have_it(capsys):
    result = fit_result(LIMITED)
    tree, limits = result.tree(3), limits_of(result.scene, LIMITED.fairness, LIMITED.direction)
    limited = f"{limits_in_words(LIMITED)} {result.beside(fit_result(LIMITED.free()))}"
    sense = (result.evidence(), result.merit(), refits(result))
    report = report_html(result, tree, limits, *sense, code="", date="today", limited=limited)
    assert "<dt>Direction</dt><dd>nobody loses the better decision</dd>" in report
    assert "<dt>Kept out</dt><dd>LSAT score and Sex</dd>" in report
    assert "cannot, &lt;b&gt;change&lt;/b&gt; it" in report
    assert "Not limited, the same sliders give" in report
    assert report.count("g acts only where f says “fails the bar”; everywhere else it is f.") == 2
    assert "of the decisions changed and no better decision taken away, nobody can do better" in report
    namespace = {}
    exec(compile(to_python(LIMITED), "copied", "exec"), namespace)
    np.testing.assert_array_equal(namespace["g"].coef_, result.g.coef_)
    assert in_words(LIMITED).endswith("k 2, nobody loses the better decision, kept out LSAT score and Sex")


def test_on_compas_the_better_decision_is_the_negative_one():
    settings = replace(defaults("compas"), direction="improve")
    assert settings.commod_arguments()["favourable"] == 0
    changes = fit_result(settings).changes
    assert changes["raised"].sum() == 0 < changes["lowered"].sum()


@pytest.mark.slow
def test_the_limit_page_counts_in_one_direction():
    both, one = (limits_of(fit_result(LIMITED).scene, LIMITED.fairness, way) for way in ("both", "worsen"))
    assert one.at(0.2) < both.at(0.2)
    assert one.printed_fails_from is None
    page = fine(run("pages/limits.py", direction="worsen", methods=""))
    assert "and no better decision given" in words(page)
    assert "with at most 68 decisions changed (5%)" in words(page)
    fairest = {row[0]: row[1] for row in tables(page)["The fairest with at most 5% of the decisions changed"]}
    assert fairest["Limit"] == f"{one.at(0.05):.3f}"


@pytest.mark.slow
def test_models_of_other_methods_are_not_held_against_a_bound_of_one_direction():
    page = fine(run("pages/limits.py", direction="worsen", methods="commod,oracle_roc"))
    table = tables(page)["The fairest with at most 5% of the decisions changed"]
    assert [row[0] for row in table] == ["f, nothing changed", "Limit", "Limit, group not shown"]
    assert "are left out" in captions(page)
    assert not page.pills


def test_pages_that_are_not_explore_say_that_the_model_is_limited():
    for script in ("pages/people.py", "pages/take_home.py", "pages/what_if.py"):
        app = fine(run(script, direction="improve", without="lsat"))
        assert "Nobody loses the better decision; the update does not use LSAT score." in captions(app)
        assert "g acts only where f says “fails the bar”" in captions(app)


def test_what_if_says_why_g_does_not_act():
    result = fit_result(LIMITED)
    for person in (np.flatnonzero(result.scene.logit_test > 0)[0], np.flatnonzero(result.changed_test)[0]):
        app = fine(run("pages/what_if.py", **to_link(LIMITED), person=str(person)))
        spared = "g keeps f's score here: f says “passes the bar”" in captions(app)
        assert spared == (result.scene.logit_test[person] > 0)
        assert ("The decision turns at" in captions(app)) != spared


@pytest.mark.slow
def test_compare_does_not_take_a_limited_model_for_one_of_its_own():
    app = fine(
        run("pages/compare.py", methods="commod,oracle_roc", lambda_fair="4", direction="improve", without="lsat")
    )
    (choice,) = [box for box in app.selectbox if box.label.startswith("COMMOD model to match")]
    assert not any("as on Explore" in option for option in choice.options)
    assert "COMMOD's models here are not limited; Explore's is: Nobody loses" in captions(app)


def test_the_better_decisions_are_counted_where_nobody_may_gain_them():
    settings = replace(defaults("compas"), direction="worsen")
    result, free = fit_result(settings), fit_result(settings.free())
    told = result.beside(free)
    assert f"{free.changes['lowered'].sum()} defendants who get the better decision (here 0)" in told
    nothing = fit_result(replace(settings, lambda_fair=0.0))
    assert nothing.beside(nothing) == "No decision changes at this setting, limited or not."


def test_a_pinned_run_keeps_the_reason():
    app = fine(run(**to_link(LIMITED)))
    app.session_state["pin_here"] = True
    fine(app.run())
    next(b for b in app.button if b.label == "Pin this model").click().run()
    assert fine(app).session_state["held_runs"].runs[0].settings.reason == REASON


def test_a_search_stays_in_the_direction_it_was_asked_in(monkeypatch):
    from commod.dashboard.jobs import tasks

    asked = {}

    def find(task, f, criterion, **arguments):
        asked.update(arguments)
        raise ValueError("enough")

    monkeypatch.setattr(tasks, "find_settings", find)
    app = fine(run(direction="improve", without="lsat"))
    next(field for field in app.number_input if field.label == "f sure, at most (%)").set_value(20.0)
    next(b for b in app.button if b.label == "Find the setting").click().run()
    assert (asked["direction"], asked["max_sure"], "lsat" in asked["features"]) == ("improve", 0.2, False)
    assert "The search failed: enough." in app.error[0].value
