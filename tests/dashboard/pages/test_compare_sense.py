"""On Compare: do the changes of the matched methods make sense?"""

from dataclasses import replace

import pytest

from commod.dashboard.jobs import service, tasks
from commod.dashboard.pages.compare import sense
from commod.dashboard.state.settings import defaults
from commod.experiments import prepare, sweep_method
from commod.experiments.match import match_models
from commod.explain.checks import CHECKS, MARKS
from commod.models.competitors import METHODS
from tests.checking import checks_of_match
from tests.dashboard.driving import fine, forget, run, run_compare, tables
from tests.waiting import wait_until

DP = "demographic_parity"
PLACES = {name: place for place, name in enumerate(CHECKS, 5)}  # columns, after method and four figures


@pytest.fixture(autouse=True, scope="module")
def short():
    """A few models of the rivals, too; COMMOD has three already."""
    with pytest.MonkeyPatch.context() as patch:
        for name, values in {"lpp": (0.2, 0.1), "oracle_roc": (0.04, 0.12)}.items():
            method = METHODS[name]
            patch.setitem(METHODS, name, replace(method, knob=replace(method.knob, sweep=values)))
        forget(tasks.sweep, tasks.match, tasks.collapsed)
        yield
        forget(tasks.sweep, tasks.match, tasks.collapsed)


@pytest.fixture(autouse=True)
def checked_anew():
    forget(tasks.retrained, tasks.refits_of_model)


def rows(app):
    return {row[0]: row for row in tables(app)[sense.MATCHED] if len(row) > 1}  # others are headings of families


@pytest.mark.slow  # tests/experiments/test_checks.py has the same without the page
def test_every_method_has_every_check():
    found = rows(fine(run_compare(methods="commod,lpp,oracle_roc", model="4,0.05")))
    assert list(found) == ["COMMOD", "LPP", "Oracle ROC ○"]
    scene = prepare("law_school")
    sweeps = {name: sweep_method(scene, name, DP) for name in ("commod", "lpp", "oracle_roc")}
    match = match_models(scene, sweeps, DP, 2)
    direct = checks_of_match(scene, match, sweeps, DP, refits=2)
    for row in direct.to_dict("records"):
        cell = found["Oracle ROC ○" if row["method"] == "oracle_roc" else METHODS[row["method"]].title]
        word, sign = MARKS[row["mark"]]
        shown = cell[PLACES[row["check"]]]
        verdict, counts, *basis = shown.split("\n")
        assert verdict == f"{sign} {word}"
        assert counts.endswith(f"%: {row['part']:,} of {row['whole']:,}")
        if row["check"] == "right":
            assert basis[0].startswith("f predicts ")
        else:
            assert basis == (["LSAT score"] if row["check"] == "merit" and row["part"] else [])
    for name in ("commod", "lpp", "oracle_roc"):
        bad = int(((direct["method"] == name) & (direct["mark"] == "bad")).sum())
        assert found["Oracle ROC ○" if name == "oracle_roc" else METHODS[name].title][PLACES["again"] + 1] == str(bad)


@pytest.mark.slow
def test_a_method_that_changes_nobody_is_open():
    app = fine(run_compare(methods="commod,lpp", model="0,0.05"))
    cells = rows(app)["COMMOD"]
    assert cells[3] == "0.0%\n"
    assert [cells[PLACES[name]] for name in ("right", "sure", "again")] == ["– not known\nnobody changes"] * 3
    assert cells[PLACES["again"] + 1] == "–"  # nothing that could be marked bad
    assert cells[PLACES["merit"]].startswith("✓ fine\n0.0%: 0 of ")


@pytest.mark.slow  # test_compare_page.py has a method that fails
def test_a_method_that_fails_leaves_the_others(monkeypatch):
    made = tasks.refits_of_model.function

    def fail(scene, cell, fairness, report, **more):
        if cell.method == "oracle_roc":
            raise RuntimeError("secret path /srv/app")
        return made(scene, cell, fairness, report=report, **more)

    monkeypatch.setattr(tasks.refits_of_model, "function", fail)
    found = rows(fine(run_compare(methods="commod,oracle_roc", model="4,0.05")))
    assert found["Oracle ROC ○"][PLACES["again"]] == sense.FAILED
    assert " of " in found["COMMOD"][PLACES["again"]]


@pytest.mark.slow
def test_what_is_known_is_not_computed_again(monkeypatch):
    app = fine(run_compare(methods="commod,oracle_roc", model="4,0.05"))
    before = rows(app)
    finished = service.queue().finished
    assert rows(fine(app.run())) == before
    assert service.queue().finished == finished


def test_refits_that_nobody_waits_for_end():
    sweep = sweep_method(prepare("law_school"), "oracle_roc", DP)
    queue = service.queue()
    before = queue.abandoned
    with service.submit(tasks.refits_of_model(defaults("law_school"), sweep.models[1].cell, 100_000)) as ticket:
        wait_until(lambda: ticket.progress > 0)
    wait_until(lambda: queue.abandoned > before)


@pytest.mark.slow
def test_own_data_without_a_merit_leave_the_question_open():
    app = run("pages/your_data.py")
    for label in ("Open it here", "Use these data"):
        fine(next(button for button in app.button if button.label == label).click().run())
    app.query_params["methods"] = "commod,lpp"
    found = rows(fine(app.switch_page("pages/compare.py").run()))
    assert {row[PLACES["merit"]] for row in found.values()} == {"– not known\nno merit is declared"}


@pytest.mark.slow
@pytest.mark.parametrize("weight", [pytest.param(0.05, marks=pytest.mark.slow), 0.2])
def test_a_model_is_as_on_explore_only_at_the_same_concepts(weight):
    app = fine(run_compare(methods="commod,oracle_roc", lambda_fair="4", lambda_concepts=f"{weight:g}"))
    (choice,) = [box for box in app.selectbox if box.label.startswith("COMMOD model to match")]
    same = [option for option in choice.options if "as on Explore" in option]
    told = [caption.value for caption in app.caption if "Explore's at" in caption.value]
    if weight == defaults("law_school").lambda_concepts:
        assert (len(same), told) == (1, [])
        assert "λ_fair 4, λ_ratio 0.05, as on Explore" in same[0]
    else:
        assert same == []
        assert told == [
            "COMMOD's models here are trained at λ_concepts 0.05 and k 2 (these are the data set's own); Explore's at "
            "λ_concepts 0.2 and k 2."
        ]


@pytest.mark.slow  # nor is one with other concepts, above
def test_a_model_that_shifts_is_not_among_those_of_the_paper():
    app = fine(run_compare(methods="commod,oracle_roc", lambda_fair="4", update="affine"))
    (choice,) = [box for box in app.selectbox if box.label.startswith("COMMOD model to match")]
    assert not any("as on Explore" in option for option in choice.options)
    assert "Explore shows another form of COMMOD (multiply and shift)." in [caption.value for caption in app.caption]


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [(0.01, 0.03, "more"), (-0.03, -0.01, "fewer"), (-0.01, 0.03, "perhaps more"), (0.0, 0.0, "as many")],
)
def test_a_figure_is_told_beside_commods_and_chance_is_named(low, high, told):
    row = {"change_rate_more_low": low, "change_rate_more_high": high}
    assert sense.against_in_words(row, "change_rate", "more", "fewer", "as many") == told
    assert sense.against_in_words({}, "change_rate", "more", "fewer", "as many") == ""  # COMMOD itself
