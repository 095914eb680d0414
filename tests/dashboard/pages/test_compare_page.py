"""The Compare page, headless."""

import os
import shlex
import subprocess
import sys
from dataclasses import replace

import pandas as pd
import pytest

from commod.dashboard.jobs import service, tasks
from commod.dashboard.pages.compare.match import match_in_words
from commod.dashboard.pages.compare.sections import Compared
from commod.dashboard.pages.compare.sense import MATCHED, figure_columns
from commod.dashboard.pages.your_data import page as your_data
from commod.dashboard.state.settings import Settings, defaults
from commod.dashboard.views.methods import USUAL, form_to_add
from commod.datasets import load_task
from commod.datasets.choice import ROLES, roles_json
from commod.datasets.example import example_table
from commod.experiments import prepare, sweep
from commod.experiments.paper_numbers import METHOD_ROWS
from commod.experiments.sweep import lines_of
from commod.experiments.winners import claims_of
from commod.models.competitors import FAMILIES, METHODS, available_methods
from tests.browsing import ROOT
from tests.dashboard.driving import captions, fine, run, run_compare, small_sweep, tables, words

pytestmark = pytest.mark.longer_sweeps


def pills_of(app, family):
    """The choice of a family's methods."""
    return next(pills for pills in app.pills if pills.key.startswith(f"methods_{family}_"))


def chosen(app):
    return [name for pills in app.pills for name in pills.value]


def setting_of_commod(app):
    """The last of the columns that are asked for."""
    return tables(app)[MATCHED][1][-1]


@pytest.fixture(scope="module")
def compared():
    """The Compare page with methods that are quick."""
    return fine(run_compare(methods="commod,fst,oracle_roc"))


def test_compare_begins_with_the_papers_methods_the_bayes_rule_and_the_form_that_counts():
    assert set(USUAL) == {*METHOD_ROWS, "hardt", "bayes", "commod_decisions"}
    assert set(USUAL) <= set(available_methods("demographic_parity"))


@pytest.mark.slow  # what it says of fewer models is in tests/snapshots/compare
def test_compare_draws_and_matches(compared):
    app = compared
    assert app.title[0].value == "Which method changes the fewest decisions?"
    assert "Not final" not in words(app)
    assert set(tables(app)) == {"Who wins where", "Mean change rates", MATCHED}  # no more than these
    assert "Oracle ROC ○" in [row[0] for row in tables(app)["Mean change rates"]]
    assert app.query_params["methods"] == "commod,fst,oracle_roc"
    counted = [row for row in tables(app)["Mean change rates"] if "○" not in row[0]]
    for place, (_, winner, *_) in enumerate(tables(app)["Who wins where"], start=1):
        rates = {row[0]: float(row[place].split("%")[0]) for row in counted if not set(row[place]) & set("–✗")}
        name, rate = winner.split("\n")[:2]
        assert rates[name] == min(rates.values()) == float(rate.split("%")[0])
    assert "Q1" not in words(app) + captions(app) + str(tables(app))
    assert all(row[0].startswith("P-Rule ") for row in tables(app)["Who wins where"])


def test_the_other_form_of_commod_can_be_added_where_one_is_chosen_alone():
    assert form_to_add(["commod", "lpp"]) == "COMMOD (count changes) can be added under “Methods shown”."
    assert form_to_add(["commod_decisions"]) == "COMMOD can be added under “Methods shown”."
    assert not form_to_add(USUAL)
    assert not form_to_add(["lpp"])


def test_the_match_tells_in_what_a_rival_is_better_and_in_what_worse():
    own = {"method": "commod", "p_rule": 0.8, "accuracy": 0.71, "change_rate": 0.1, "changed": 100, "comparable": True}
    clear = {"p_rule_more_low": 0.01, "p_rule_more_high": 0.03, "change_rate_more_low": 0.02}
    clear |= {"change_rate_more_high": 0.06, "accuracy_more_low": -0.01, "accuracy_more_high": 0.02}
    lpp = own | clear | {"method": "lpp", "p_rule": 0.82, "accuracy": 0.715, "change_rate": 0.14, "changed": 140}
    alike = own | dict.fromkeys(clear, 0.0) | {"method": "frappe"}
    columns = figure_columns(defaults("law_school"))[1:4]
    assert [column.cell(lpp)[0] for column in columns] == ["0.820\nfairer", "71.5%\nperhaps more", "14.0%\nmore"]
    assert [column.cell(alike)[0] for column in columns] == ["0.800\nas fair", "71.0%\nthe same", "10.0%\nas many"]
    told = match_in_words(pd.DataFrame([own, lpp, alike]), "demographic_parity", 0.5)
    near = "within 0.05 of COMMOD's P-Rule and 2 points of its accuracy"
    assert told == f"Shaded: methods with a model {near} (2 of 2). "
    far = match_in_words(pd.DataFrame([own, lpp | {"comparable": False}]), "demographic_parity", 0.9)
    assert "less fair than f (0.900)" in far
    assert f"No other method has a model {near}" in far


@pytest.mark.slow
def test_compare_of_another_model():
    app = fine(run_compare(methods="commod,fst,oracle_roc"))
    box = next(box for box in app.selectbox if box.label.startswith("COMMOD model"))
    app = fine(box.select_index(len(box.options) - 1).run())
    app = fine(app.toggle(key="match_more").set_value(True).run())
    assert setting_of_commod(app) == "λ_fair 10, λ_ratio 0"
    assert app.query_params["model"]
    again = run_compare(**dict(app.query_params))
    again = fine(again.toggle(key="match_more").set_value(True).run())
    assert tables(again)[MATCHED] == tables(app)[MATCHED]


def test_compare_without_methods_or_rivals(monkeypatch):
    monkeypatch.setattr(sweep, "EFFORT", 3)
    app = run_compare(methods="fst")
    assert any("Choose COMMOD and at least one other" in info.value for info in fine(app).info)
    app = fine(pills_of(app, "blind").set_value([]).run())
    assert chosen(app) == []
    assert any("Choose at least one method." in info.value for info in app.info)


@pytest.mark.slow
def test_compare_with_a_hostile_link():
    app = fine(run_compare(methods="oracle_roc,<script>,igd,,", model="9" * 40))
    assert any(r"\<script\>, igd" in warning.value for warning in app.warning)
    assert chosen(app) == ["oracle_roc"]


@pytest.mark.slow
def test_compare_under_equalized_odds_offers_what_is_defined_for_it():
    app = run_compare(fairness="equalized_odds", methods="commod,oracle_roc,oracle_lpp,fst")
    assert chosen(app) == ["commod", "fst", "oracle_lpp"]
    assert any("Not defined for this criterion: Oracle ROC." in caption.value for caption in app.caption)
    assert "(half of f's) or less" in words(fine(app))


def test_compare_names_a_method_that_fails_and_draws_the_others(monkeypatch):
    made = tasks.sweep.function

    def fail(scene, method, fairness, *, form, report):
        if method == "lpp":
            raise RuntimeError("secret path /srv/app")
        return made(scene, method, fairness, report, form=form)

    monkeypatch.setattr(tasks.sweep, "function", fail)
    app = run_compare(methods="commod,lpp", seed="31")
    assert not app.exception
    assert [warning.value for warning in app.warning] == ["LPP could not be swept: a fault of ours"]
    assert "**Not final, without LPP.**" in words(app)


@pytest.mark.slow
def test_compare_keeps_the_model_in_the_link_and_opens_an_old_one():
    app = fine(run_compare(methods="commod,fst", segments="1", model="6,0.05"))
    app = fine(app.toggle(key="match_more").set_value(True).run())
    assert setting_of_commod(app) == "λ_fair 6, λ_ratio 0.05"
    assert app.query_params["model"] == "6,0.05"


@pytest.mark.slow
def test_compare_on_another_scene_forgets_the_model_and_follows_the_sliders():
    app = run_compare(methods="commod,fst", model="6,0.05")
    app = fine(app.number_input(key="set_seed").set_value(3).run())
    app = fine(app.toggle(key="match_more").set_value(True).run())
    assert setting_of_commod(app) == "λ_fair 3, λ_ratio 0.05"
    assert app.query_params["model"] == "3,0.05"


def test_compare_of_no_method_stays_so():
    app = run_compare(methods="")
    assert chosen(app) == []


def test_the_fold_says_how_many_methods_are_shown(monkeypatch):
    monkeypatch.setattr(sweep, "EFFORT", 3)
    app = fine(run_compare(methods="oracle_roc", data="german"))
    assert any(fold.label.startswith("Methods shown: **1 of ") for fold in app.expander)
    fine(pills_of(app, "aware").set_value(["oracle_roc", "oracle_lpp"]).run())
    assert any(fold.label.startswith("Methods shown: **2 of ") for fold in app.expander)
    assert app.query_params["methods"] == "oracle_lpp,oracle_roc"


def test_every_method_has_a_family_and_an_old_link_still_chooses_from_all():
    assert {method.family for method in METHODS.values()} == set(FAMILIES)
    assert METHODS["commod"].family == "blind"
    assert METHODS["hardt"].family == "aware"
    assert METHODS["mnb"].family == METHODS["wass1_penalised"].family == "own"  # whatever it must be told


def test_where_nobody_is_changed_nobody_wins(monkeypatch):
    _, sweep = small_sweep()
    unchanged = replace(sweep, models=sweep.models[:1], points=sweep.points[:1])
    scene = prepare("law_school")
    monkeypatch.setattr(Compared, "sound", pd.Series([True]))  # what takes a queue
    here = Compared(defaults("law_school"), {"commod": unchanged}, scene)
    assert here.cells.empty
    assert claims_of(here.cells) == ()
    monkeypatch.setattr(Compared, "sound", pd.Series([True] * 5 + [False]))
    whole = Compared(defaults("law_school"), {"commod": sweep}, scene)
    last = whole.cells[~whole.cells["sound"]]
    assert not last["fewest"].any()


def test_who_wins_on_other_splits_is_open_until_all_methods_are_known_there():
    _, sweep = small_sweep()
    here = Compared(defaults("law_school"), {"commod": sweep, "lpp": sweep}, prepare("law_school"))
    assert not replace(here, spread={"lpp": sweep.points}).has_all_spread
    assert replace(here, spread={"commod": sweep.points, "lpp": sweep.points}).has_all_spread


# As people call their columns, and as a shell does not like them.
ODD = {
    "hired": "hired?",
    "group": "it's the group",
    "experience_years": "-years",
    "test_score": 'the "test" score',
    "education": "Schulabschluß (höchster)",
    "city": "$HOME; `city` & \\",
    "interview_language": "--category",
}


@pytest.mark.slow
def test_the_command_for_own_data_gives_the_points_of_the_page(monkeypatch, tmp_path):
    odd = example_table().rename(columns=ODD)
    odd["it's the group"] = odd["it's the group"].map({"A": "- A -", "B": "ß"})
    monkeypatch.setattr(your_data, "example_table", lambda: odd)
    monkeypatch.setattr(sweep, "EFFORT", 36)  # as the command has it
    app = run("pages/your_data.py")
    for label in ("Open it here", "it's the group", "Use these data"):
        fine(next(button for button in app.button if button.label.startswith(label)).click().run())
    app.query_params["methods"] = "oracle_roc"
    fine(app.switch_page("pages/compare.py").run())
    name = app.session_state["held_own_data"].name
    drawn = service.get(tasks.sweep(Settings(data=name, f="scores"), "oracle_roc")).points
    assert len(drawn) == sum(map(len, lines_of("oracle_roc")))
    assert drawn["change_rate"].max() > 0.05

    (tmp_path / your_data.EXAMPLE).write_bytes(odd.to_csv(index=False).encode())
    (tmp_path / ROLES).write_text(roles_json(load_task(name).roles), encoding="utf-8")
    command = shlex.split(app.code[0].value)
    assert command[:4] == ["python", "-m", "commod", "compare"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    made = subprocess.run([sys.executable, *command[1:]], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    points = pd.read_csv(tmp_path / "points.csv")
    assert set(points.pop("dataset")) == {your_data.EXAMPLE}
    pd.testing.assert_frame_equal(points, drawn.drop(columns="dataset"), rtol=1e-12)
