"""Nightly runs: counts add up in a file, and the test may be looked at every night."""

import json

import numpy as np
import pytest

from commod.cli import main
from commod.decisions import Requirements
from commod.monitoring import check_then_and_now, read_state, watch
from commod.monitoring.reference import Cells
from commod.monitoring.requirements import ALPHA, Counted, drop_revealed, evidence, tolerance
from commod.monitoring.state import KEPT, STEP, WatchState, money_on
from tests.benchmarks import watch as nightly

pytestmark = pytest.mark.quick

LAW = nightly.POPULATIONS["law_school"]


@pytest.fixture
def nights(law, tmp_path):
    """A model, four nights and what is asked for."""
    model, asked = tmp_path / "model.json", tmp_path / "asked.json"
    model.write_text(law.text, encoding="utf-8")
    asked.write_text('{"p_rule": 0.3}', encoding="utf-8")
    batches = []
    for number, rows in enumerate(np.array_split(np.arange(len(law.batch)), 4)):
        batches.append(tmp_path / f"night{number}.csv")
        law.batch.iloc[rows].to_csv(batches[-1], index=False)
    return model, batches, asked, tmp_path / "state.json"


def run(model, batch, asked, state):
    return main(["watch", str(model), str(batch), "--requirements", str(asked), "--state", str(state)])


@pytest.mark.longer
def test_counts_of_all_nights_are_those_of_all_people(law, nights, capsys):
    model, batches, asked, state = nights
    codes = [run(model, batch, asked, state) for batch in batches]
    assert codes[0] == 3
    assert codes[-1] == 0  # by now there are people enough
    assert "688 people of 4 batches are counted in state.json." in capsys.readouterr().out
    kept = read_state(state.read_bytes(), model.read_bytes())
    once = watch(law.model, law.batch)
    np.testing.assert_array_equal(kept.parts[0].cells.rows, once.counted.cells.rows)
    assert kept.parts[0].changes == once.counted.changes
    assert kept.looks(once)[0][1] == once.facts


def test_a_batch_is_counted_once(nights, capsys):
    model, batches, asked, state = nights
    run(model, batches[0], asked, state)
    before = state.read_text()
    run(model, batches[0], asked, state)
    assert "172 people of 1 batch are counted" in capsys.readouterr().out
    assert state.read_text() == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"format": "commod-watch/1"}', "no state of commod watch"),
        ('{"format": "moon"}', "no state of commod watch"),
        ("{", "no JSON"),
        ('{"format": "commod-watch/1", "model": "moon", "batches": [], "parts": []}', "of another model"),
        (
            '{"format": "commod-watch/1", "model": "", "batches": [], '
            '"parts": [{"number": 0, "cells": [[[[[-1]]]], [[[[1]]]], [[[[1]]]]], "changes": {}}]}',
            "no state of commod watch",
        ),
    ],
)
def test_a_bad_state_is_one_sentence_and_is_kept(nights, capsys, content, said):
    model, batches, asked, state = nights
    state.write_text(content)
    assert run(model, batches[0], asked, state) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert state.read_text() == content


def test_batches_must_tell_the_same(law, nights, capsys):
    model, batches, asked, state = nights
    run(model, batches[0], asked, state)
    law.batch.drop(columns="pass_bar").to_csv(batches[1], index=False)
    assert run(model, batches[1], asked, state) == 2
    assert "start another --state file" in capsys.readouterr().err


class Night:
    """What `WatchState` needs of a batch: one night of the simulation."""

    def __init__(self, positive, people):
        cells = np.zeros((2, 2, 2, 2))
        cells[:, 0, 0, 0], cells[:, 0, 1, 1] = people - positive, positive
        self.counted = Counted(Cells(cells, cells, cells), {}, False, 1, "both", ())


@pytest.mark.longer
def test_the_simulation_is_the_test_of_the_command():
    """The same e-values, night by night, with windows that come and go."""
    positive, people = nightly.drawn([0.7] * 90, 100, LAW, 1, np.random.default_rng(0))
    expected = nightly.capital(positive, people, 100)[0]
    state = WatchState("")
    for night in range(90):
        found = Night(positive[:, 0, night], people[:, 0, night])
        state = state.plus(found, str(night).encode())
        if night % 10 == 5 or night > 85:
            looks = state.looks(found)
            sums = sum(money * evidence(facts.measured["p_rule"], 0.8, 1, 0.1) for money, facts in looks)
            assert sums == pytest.approx(expected[night])
            failed = check_then_and_now(Requirements(p_rule=0.8), looks[0][1], looks[state.recent][1], None, looks)
            assert (failed["verdict"][0] == "fail") == (sums >= 1 / ALPHA)
    assert expected.max() > 1 / ALPHA > expected[0]
    assert len(state.parts) == 1 + KEPT
    assert state.parts[-1].people < STEP <= state.parts[-2].people


def test_money_is_bet_once():
    assert 0.99 < sum(money_on(number) for number in range(500)) <= 1


@pytest.mark.longer
def test_false_alarms_of_a_quiet_year_are_rare():
    """At the limit itself, and where a group is small; 5 % are promised, and 400 years are looked at."""
    for name in ("law_school", "german"):
        alarms = nightly.alarms([0.8] * 365, 100, nightly.POPULATIONS[name], 400, np.random.default_rng(1))
        assert alarms.any(axis=1).mean() <= 0.05


def test_a_large_drop_is_found_as_soon_as_it_is_said_to_be():
    """What 3,000 people would have revealed is found in about four cases of five, and seldom where it is said not."""
    people = 3000
    positive, counts = nightly.drawn([0.8], people, LAW, 1, np.random.default_rng(0))
    facts = Night(positive[:, 0, 0], counts[:, 0, 0]).counted.facts
    drop = drop_revealed(facts.measured["p_rule"], 0.8, 0.1, 1)
    assert 0.05 < drop < 0.2
    found = [
        nightly.alarms([0.8 - size] * 30, 100, LAW, 400, np.random.default_rng(2)).any(axis=1).mean()
        for size in (drop, drop / 2)
    ]
    assert 0.75 < found[0] < 0.95
    assert found[1] < 0.5


@pytest.mark.longer
def test_a_drop_after_a_good_past_is_found_by_a_window():
    quiet, bad = [0.9] * 300, [0.6] * 60
    positive, people = nightly.drawn(quiet + bad, 100, LAW, 100, np.random.default_rng(3))
    assert (nightly.capital(positive, people, 100) >= 1 / ALPHA)[:, 300:].any(axis=1).mean() > 0.9
    with np.errstate(all="ignore"):
        total = nightly.e_values(positive.sum(axis=-1), people.sum(axis=-1))
    assert (total < 1 / ALPHA).all()


def test_tolerances_fit_what_is_required():
    rules = nightly.RULES
    assert {name: tolerance(rule) for name, rule in rules.items()} == {
        "p_rule": 0.1, "dm": 0.1, "sure": 0.1, "right": 0.1, "again": 0.1,
        "accuracy_lost": 0.02, "changed": 0.02, "worse_off": 0.02,
    }  # fmt: skip


def test_the_file_is_json_that_comes_back(nights):
    model, batches, asked, state = nights
    run(model, batches[0], asked, state)
    kept = read_state(state.read_bytes(), model.read_bytes())
    assert json.loads(kept.text) == json.loads(state.read_text())
