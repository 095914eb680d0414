"""Do these changes make sense? On Explore, Who changed, What if, Saved runs and on one's own data."""

import json
import re
import time
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from commod.dashboard.model.training import fit_result
from commod.dashboard.state.settings import defaults
from commod.dashboard.text.glossary import tip
from commod.dashboard.views import checks
from commod.dashboard.views.checks import SHOWN, how_far, in_a_cell
from commod.explain.checks import CHECKS
from tests.dashboard.driving import captions, fine, run, slider, tables, words
from tests.dashboard.refitting import refits

PEOPLE, WHAT_IF, RUNS = "pages/people.py", "pages/what_if.py", "pages/runs.py"
pytestmark = pytest.mark.with_refits
TABS = ["Right or wrong", "How sure f was", "More merit", "Again?", "Calibration", "Proxies"]


@pytest.fixture(scope="module")
def law():
    return fit_result(defaults("law_school").model())


def plain(text):
    return text.replace("\\", "")


def lines(app):
    """The lines of the checks, as they are read."""
    found = [plain(line) for m in app.main.markdown for line in m.value.split("\n\n")]
    return [line for line in found if any(check.title in line for check in CHECKS.values())]


def test_explore_answers_four_questions_with_a_word_and_a_sign(law):
    app = fine(run())
    found = lines(app)
    answers = law.answers(law.merit(), refits(law))
    assert len(found) == 4
    for line, answer in zip(found, answers.values(), strict=True):
        assert SHOWN[answer.mark] in line
        assert answer.sentence in line
        assert ":material/" in line
    tip = next(header.proto.help for header in app.header if header.value == "Do these changes make sense?")
    assert all(check.bounds in tip for check in CHECKS.values())


def test_a_check_that_waits_behind_others_says_when_it_starts():
    now, in_line = time.monotonic(), SimpleNamespace(progress=0.0, before=3)
    assert how_far(in_line, now) == "…"  # it may start at once
    assert how_far(in_line, now - 60) == "starts when the server is less busy"
    assert how_far(SimpleNamespace(progress=0.34, before=0), now - 60) == "30 % computed"


def test_an_answer_that_is_still_being_computed_has_no_mark(law, monkeypatch):
    monkeypatch.setattr(checks, "say_declared", str)
    again, place = law.answers(refits=refits(law))["again"], MagicMock()
    for note, is_marked in (("50 % computed", False), ("", True)):
        checks._paint(place, {"again": again}, dict.fromkeys(CHECKS, "") | {"again": note})
        line = next(line for line in place.markdown.call_args.args[0].split("\n\n") if again.check.title in line)
        assert (SHOWN[again.mark] in line) == is_marked
        assert again.sentence in line
        assert note in line


def test_a_job_may_end_while_its_parts_are_looked_at(law, monkeypatch):
    """Another thread empties them between two looks."""
    seen, drawn = iter([[refits(law)], []]), []
    monkeypatch.setattr(checks, "st", MagicMock())
    monkeypatch.setattr(checks, "say_declared", str)
    monkeypatch.setattr(checks, "submit", lambda task: None)
    monkeypatch.setattr(checks, "begin_next_steps", lambda *_: [])
    monkeypatch.setattr(checks, "_paint", lambda place, answers, notes: drawn.append(dict(answers)))

    class Ending:
        note, progress, before, seconds_left = "", 0.5, 0, None
        parts = property(lambda self: next(seen, []))

    again = checks.begin_checks(law)()[-1]
    again.show_progress(Ending())
    assert drawn[-1]["again"] == law.answers(refits=refits(law))["again"]


def test_a_model_that_changes_nobody_has_nothing_to_check():
    app = run()
    fine(slider(app, "lambda_fair").set_value(0.0).run())
    assert lines(app) == []
    assert any("nothing to check" in info.value for info in app.info)
    still = fit_result(replace(defaults("law_school"), lambda_fair=0.0))
    answers = still.answers(still.merit(), refits(still))
    assert [answers[name].mark for name in ("right", "sure", "again")] == ["open"] * 3
    assert answers["merit"].mark == "fine"  # g = f, and f rises with every merit
    assert in_a_cell(answers["right"]) == "– not known: nobody changes"
    people = fine(run(PEOPLE, lambda_fair="0"))
    assert "Do these changes make sense?" in [header.value for header in people.header]
    assert any("nothing to check" in info.value for info in people.info)


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("data", ["law_school", pytest.param("german", marks=pytest.mark.slow)])
def test_every_tab_of_who_changed_opens(tab, data):
    app = run(PEOPLE, data=data)
    app.session_state["people_sense"] = tab
    app = fine(app.run())
    shown = {
        "Right or wrong": "Right by the record",
        "How sure f was": CHECKS["sure"].title,
        "More merit": "merit",
        "Again?": CHECKS["again"].title,
        "Calibration": "Non-White" if data == "law_school" else "25 or younger",
        "Proxies": "alone",
    }[tab]
    assert shown in words(app)


@pytest.mark.slow
def test_own_people_have_columns_and_filters_for_record_and_refits(law):
    app = fine(run(PEOPLE))
    (people,) = app.dataframe
    again = refits(law)
    share = dict(enumerate(again.share))
    assert [100 * share[number] for number in people.value["number"]] == people.value["again"].tolist()
    config = json.loads(people.proto.columns)
    assert {config[name]["type_config"]["format"] for name in ("f", "g", "sure", "again")} == {"%.1f%%"}
    right = int(law.record["right"].sum())
    assert (people.value["right"] == "right").sum() == right
    fine(next(w for w in app.multiselect if w.label == "More columns and filters").set_value(["right", "again"]).run())
    fine(next(w for w in app.multiselect if w.label == "g by the record").set_value(["right"]).run())
    assert f"**{right} of 125** changed students" in words(app)
    fine(next(w for w in app.multiselect if w.label == "g by the record").set_value([]).run())
    often = int((again.share[law.changed_test] >= 0.9).sum())
    chosen = next(w for w in (*app.slider, *app.multiselect) if w.label == "Changes again")
    wanted = (0.9, 1.0) if chosen.type == "slider" else [option for option in chosen.options if float(option) >= 0.9]
    fine(chosen.set_value(wanted).run())
    assert f"**{often} of 125** changed students" in words(app)


@pytest.mark.slow  # the tab is opened above
def test_more_merit_is_named_with_its_direction_and_what_matters_stands_first():
    app = run(PEOPLE, data="compas")
    app.session_state["people_sense"] = "More merit"
    app = fine(app.run())
    assert {row[0] for row in tables(app)["For whom one more step of merit hurts"]} == {
        "Fewer prior offences",
        "Fewer juvenile felonies",
        "Fewer juvenile misdemeanours",
        "Fewer other juvenile offences",
    }
    (shown,) = (e.proto.body for e in app.get("html") if "For whom one more step of merit hurts" in e.proto.body)
    headings = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', shown)
    assert headings[:2] == ["Merit", "g: turned"]
    assert "g: the score of the better outcome falls" in headings


def test_calibration_begins_with_what_is_measured_and_what_came_of_it(law):
    app = run(PEOPLE)
    app.session_state["people_sense"] = "Calibration"
    text = plain(words(fine(app.run())))
    table = law.evidence().calibration
    row = table.loc[table["difference"].idxmax()]
    group = law.task.groups[int(row.name)]
    assert f"It **grew most** in the group “{group}”: from {row['f']:.3f} to {row['g']:.3f}" in text
    assert f"({row['difference']:+.3f}, 95 % interval {row['difference_low']:+.3f} to" in text


def test_no_interval_of_nothing_and_the_auc_of_a_proxy_is_that_of_the_group(law):
    table = law.evidence().calibration
    assert (table[["f", "f_low", "f_high"]] == 0).all(axis=1).any()
    app = run(PEOPLE)
    app.session_state["people_sense"] = "Calibration"
    cells = [cell for row in tables(fine(app.run()))["Calibration error by group"] for cell in row]
    assert "none beyond chance" in cells
    assert not [cell for cell in cells if re.fullmatch(r"[+−]?0\.000 \[[+−]?0\.000, [+−]?0\.000\]", cell)]
    app.session_state["people_sense"] = "Proxies"
    (told,) = (caption.value for caption in fine(app.run()).caption if "strongest proxy" in caption.value)
    assert tip("auc_of_group") in told


def test_certainty_has_names_that_fit_on_a_phone():
    app = run(PEOPLE)
    app.session_state["people_sense"], app.session_state["certainty_table"] = "How sure f was", True
    rows = tables(fine(app.run()))["How sure f was, as a table"]
    assert [row[0] for row in rows] == ["50–60", "60–70", "70–80", "80–90", "90–100"]


def test_a_table_of_proxies_that_is_not_long_is_shown_whole():
    app = run(PEOPLE)
    app.session_state["people_sense"] = "Proxies"
    (shown,) = (e.proto.body for e in fine(app.run()).get("html") if "tells the groups apart" in e.proto.body)
    assert 'class="cx-scroll"' in shown


# ---- What if ----


def test_what_if_adds_up_and_says_whether_it_would_happen_again():
    app = fine(run(WHAT_IF, person="13"))
    text = plain(words(app))
    assert "Chance of “passes the bar”: 2.4% by f, 59.3% by g." in text
    line = next(m.value for m in app.main.markdown if "Would it happen again?" in m.value)
    assert re.search(r"\*\*Would it happen again\?\*\* :\w+\[:material/\w+: [\w ]+\.\] ", line)


def test_what_if_says_what_happened(law):
    labels = law.scene.test.y.to_numpy()
    for label, outcome in enumerate(law.task.spec.outcomes):
        person = (labels == label).nonzero()[0][0]
        assert f"Record: “{outcome}”." in captions(fine(run(WHAT_IF, person=str(person))))


def test_what_if_warns_where_more_merit_hurts():
    app = fine(run(WHAT_IF, person="13"))
    assert not app.warning
    app = fine(app.slider(key="what_if_law_school_lsat").set_value(40.0).run())
    (warning,) = app.warning
    assert "More merit hurts here: LSAT score 28 → 40 turns g's decision to “fails the bar”" in plain(warning.value)
    app = fine(app.slider(key="what_if_law_school_lsat").set_value(20.0).run())
    assert not app.warning  # less of it is no merit


# ---- saved runs ----


def test_saved_runs_are_held_against_each_other():
    strong = defaults("german")
    app = fine(run(RUNS, pinned=[("Strong", strong), ("Weak", replace(strong, lambda_fair=2.0))]))
    rows = tables(app)["The runs side by side"][-len(CHECKS) :]
    assert [row[0] for row in rows] == [check.title for check in CHECKS.values()]
    assert all("…" not in cell for row in rows for cell in row)
    assert rows[2][2:] == ["– not known: no merit is declared"] * 2  # German credit declares no merit


# ---- own data ----


@pytest.mark.slow
def test_own_data_can_say_what_is_merit():
    app = fine(run("pages/your_data.py"))
    app = fine(next(b for b in app.button if b.label == "Open it here").click().run())
    more = next(w for w in app.multiselect if w.label == "More of it is a merit")
    app = fine(more.set_value([more.options[0]]).run())
    app = fine(next(b for b in app.button if b.label == "Use these data").click().run())
    app.switch_page("app.py")
    app = fine(app.run())
    merits = [line for line in lines(app) if CHECKS["merit"].title in line]
    assert len(merits) <= 1
    if merits:
        assert "declared" not in merits[0]
