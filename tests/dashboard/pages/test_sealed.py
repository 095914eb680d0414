"""Sealed people in the app: no page looks at them before a decision is signed, and signing opens them."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from commod.dashboard.pages.decide.sealed import BOTH
from commod.dashboard.pages.your_data import page as your_data
from commod.dashboard.text.menu import PAGES
from commod.datasets import Choice, load_task, make_task
from commod.datasets.example import example_table
from commod.decisions import confirmation, read_record, record_json, verify_record
from tests.dashboard.driving import captions, fine, run, tables, words
from tests.dashboard.pages.test_decide_page import fill, press, record_of
from tests.snapshots import WITHOUT_DATA, text_of
from tests.waiting import wait_until

DECIDE = "pages/decide.py"
SIGN = "Decide and open the sealed people"
ASKED = {"req": "p_rule:0.5;changed:0.2", "methods": "oracle_roc"}  # a quick one
ROWS = 700


def flipped(labels):
    return np.where(labels == "yes", "no", "yes")


def bring(monkeypatch, table):
    """A table in use, uploaded as the example is."""
    monkeypatch.setattr(your_data, "_example", lambda: table.to_csv(index=False).encode())
    app = fine(run("pages/your_data.py", **ASKED))
    press(app, "Open it here")
    return press(app, "Use these data")


def go_to(app, page):
    app.query_params["methods"] = ASKED["methods"]  # of the address of Compare and Decide, and no other page's
    return fine(app.switch_page(page).run())


def name_of(app):
    return app.session_state["held_own_data"].name


@cache
def poisoned_table():
    """The example with every label of a sealed person turned round."""
    table = example_table(ROWS)
    kept = table.copy()
    sealed = make_task(table, Choice("hired", "yes", "group", (), {"city": "category"}, confirm=0.2)).task.sealed
    kept.loc[sealed.X.index, "hired"] = flipped(table.loc[sealed.X.index, "hired"])
    return kept


def said(app):
    """All that a page says and draws, whatever the data are called."""
    wait_until(lambda: "| …" not in text_of(app) or "| …" not in text_of(app.run()), pause=0.1)
    charts = [drawn(element.proto) for element in app.main.get("arrow_vega_lite_chart")]
    return "\n".join([text_of(app), json.dumps(charts)]).replace(name_of(app), "own")


def drawn(proto):
    return [proto.spec, *(data.data.data.hex() for data in proto.datasets)]


SLOW = ("pages/compare.py", "pages/limits.py", "app.py")  # Decide has sweeps, too, and the others this model
# Your data, which counts the whole file, is among those that are left out, and Decide has a test of its own.
OPENED = [page for page in PAGES if Path(page).stem not in WITHOUT_DATA and page != DECIDE]
EVERY_PAGE = [pytest.param(page, marks=[pytest.mark.slow] * (page in SLOW)) for page in OPENED]


@pytest.fixture(scope="module")
def both():
    """The same table twice: as it is, and with other labels of those who are sealed."""
    with pytest.MonkeyPatch.context() as patch:
        yield bring(patch, example_table(ROWS)), bring(patch, poisoned_table())


@pytest.mark.parametrize("page", EVERY_PAGE)
def test_labels_of_sealed_people_change_no_page_before_signing(both, page):
    texts = [said(go_to(app, page)) for app in both]
    assert texts[0] == texts[1]
    assert "data=own" in texts[0]


@pytest.mark.slow
def test_they_count_after_signing_and_not_before(monkeypatch):
    """So the poison is real, and the pages could have shown it; and the decision verifies."""
    both = bring(monkeypatch, example_table(ROWS)), bring(monkeypatch, poisoned_table())
    texts = [said(go_to(app, DECIDE)) for app in both]
    assert texts[0] == texts[1]
    assert "data=own" in texts[0]
    assert "A P-Rule of 0.5 or more" in texts[0]
    assert "people are sealed: no page looks at them" in texts[0]
    clean, poisoned = (load_task(name_of(app)) for app in both)
    assert (clean.sealed.y.to_numpy() != poisoned.sealed.y.to_numpy()).all()
    figures = []
    for app in both:
        fill(app, who="Ada", role="head", why="So.")
        record = record_of(press(app, SIGN))
        assert record["confirmed"]["figures"]["people"] == len(clean.sealed)
        figures.append([part["figures"]["accuracy"] for part in (record, record["confirmed"])])
    assert figures[0][0] == figures[1][0]
    assert figures[0][1] > 0.5 > figures[1][1]
    assert figures[0][1] == pytest.approx(1 - figures[1][1], abs=1e-12)
    record = record_of(both[0])
    assert confirmation(record).split(" people ")[1].startswith("nobody had looked at")
    lines = verify_record(record, clean).set_index("line")["agrees"]
    assert lines["data"]
    told = [line for line in lines.index if line.startswith("sealed ")]  # with refits; in these tests the page has none
    assert len(told) > 10
    assert lines[told].all()


# ---- data that ship ----


@pytest.fixture(scope="module")
def signed():
    app = fine(run(DECIDE, **ASKED))
    assert fine(app.toggle(key="sealed").set_value(True).run()).query_params["sealed"] == "half"
    fine(app.number_input(key="required_p_rule").set_value(0.4).run())
    fill(app, who="Ada", role="head", why="So.")
    return press(app, SIGN)


def test_old_links_look_at_all_test_people():
    app = fine(run(DECIDE, **ASKED))
    assert "sealed" not in app.query_params
    assert app.toggle(key="sealed").value is False
    assert "people are sealed" not in captions(app)


def test_signing_opens_the_sealed_people_shows_both_verdicts_and_counts_openings(signed):
    record = read_record(record_json(record_of(signed)))
    assert record["data"]["name"] == "law_school+sealed"
    assert record["tried"]["settings"] == 1
    assert record["tried"]["limits"] == 2
    assert record["tried"]["seeds"] == 1
    assert record["tried"]["compared"] > 5
    assert f"**{confirmation(record)}**" in words(signed)
    shown = {row[0]: row[1:] for row in tables(signed)[BOTH]}
    assert list(shown) == ["A P-Rule of 0.4 or more", "At most 20% of the decisions changed"]
    found = [part["verdicts"][0] for part in (record, record["confirmed"])]
    told = [f"{each['value']:.3f} [{each['low']:.3f},\u00a0{each['high']:.3f}]" for each in found]
    assert [cell.split(", ", 1)[1] for cell in shown["A P-Rule of 0.4 or more"]] == told
    assert "The sealed people were opened 1 time." in captions(signed)
    # A second signature is recorded as a second opening.
    second = record_of(press(signed, SIGN))
    assert second["confirmed"]["earlier"] == [record["sha256"]]
    assert "who had been opened 1 time before" in words(signed)
    assert "The sealed people were opened 2 times." in captions(signed)


def test_the_switch_goes_back_and_is_kept_by_reset():
    app = fine(run(DECIDE, sealed="half", data="german", lambda_fair="1"))
    assert fine(press(app, "Reset")).query_params["sealed"] == "half"
    assert "sealed" not in fine(app.toggle(key="sealed").set_value(False).run()).query_params


def test_a_link_cannot_seal_what_the_data_do_not_have(monkeypatch):
    app = fine(run(DECIDE, sealed="everybody"))
    assert [warning.value for warning in app.warning if "sealed" in warning.value]
    assert "sealed" not in app.query_params


# ---- own data ----


@pytest.mark.slow  # in a small table nobody is, either
def test_nobody_is_sealed_if_somebody_says_so(monkeypatch):
    table = example_table(ROWS)
    monkeypatch.setattr(your_data, "_example", lambda: table.to_csv(index=False).encode())
    app = press(fine(run("pages/your_data.py", **ASKED)), "Open it here")
    assert app.toggle(key="own_sealed").value is True
    press(fine(app.toggle(key="own_sealed").set_value(False).run()), "Use these data")
    task = load_task(name_of(app))
    assert task.sealed is None
    assert len(task.split()[0]) == pytest.approx(0.7 * len(task.y), abs=1)
    go_to(app, DECIDE)
    assert "Nobody is sealed in these data" in captions(app)
    assert [button.label for button in app.button if button.label == "Sign"]


def test_in_a_small_table_nobody_is_sealed_at_first(monkeypatch):
    app = bring(monkeypatch, example_table(200))
    assert app.toggle(key="own_sealed").value is False
    assert load_task(name_of(app)).sealed is None
