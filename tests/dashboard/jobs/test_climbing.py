"""Ladders that are climbed while nobody waits, and what is known of them in every process."""

import os
import sys
import threading
import time
import types
from dataclasses import replace

import numpy as np
import pytest

from commod.dashboard.jobs import checks, climbing, service, tasks
from commod.dashboard.jobs.processes import WorkerProcess
from commod.dashboard.jobs.queue import Stage, WorkQueue
from commod.dashboard.jobs.results import climb, fit_on_ladder, fit_result, forget_warm_starts
from commod.dashboard.jobs.scheduling import Kind, Priority
from commod.dashboard.state.settings import GRIDS, defaults
from commod.datasets import add_task, forget_task, load_task
from commod.models import best_response
from tests.waiting import wait_until

SETTINGS = defaults("german")


@pytest.fixture
def alone(monkeypatch):
    """A queue of this test's own, that computes here."""
    queue = WorkQueue(2, background=1)
    monkeypatch.setattr(service, "queue", lambda: queue)
    return queue


def test_a_model_on_a_known_ladder_is_the_same_to_the_last_digit():
    settings = replace(SETTINGS, seed=3)
    top = replace(settings, lambda_fair=GRIDS["lambda_fair"][-1])
    _, rungs = fit_on_ladder(top, None)
    forget_warm_starts("german")  # as in another process, which is handed the ladder
    lower = replace(settings, lambda_fair=3.5)
    by_ladder, known = fit_on_ladder(lower, {key: point for key, point in rungs.items() if key[0] < 2})
    forget_warm_starts("german")
    alone = fit_result(lower)
    assert np.array_equal(by_ladder.g.coef_, alone.g.coef_)
    assert by_ladder.path.equals(alone.path)
    assert {key for key in rungs if key[0] < 3.5} == {key for key in known if key[0] < 3.5}


def test_a_line_that_is_wholly_climbed_gives_every_model_of_it_without_solving_anything(monkeypatch):
    settings = replace(SETTINGS, seed=5)
    _, rungs = climb(settings, GRIDS["lambda_fair"], None)
    wanted = replace(settings, lambda_fair=2.5, k=4)
    forget_warm_starts("german")
    alone = fit_result(wanted)
    forget_warm_starts("german")
    monkeypatch.setattr(best_response, "_newton", None)
    read, _ = fit_on_ladder(wanted, rungs)
    assert np.array_equal(read.g.coef_, alone.g.coef_)
    assert read.path.equals(alone.path)
    assert read.g.concepts_.equals(alone.g.concepts_)


@pytest.mark.with_refits
def test_refits_are_the_same_for_every_k():
    results = [fit_result(replace(SETTINGS, k=k)) for k in (1, 4)]
    one, other = (tasks.refits(result) for result in results)
    assert one == other
    changes = [checks.some_refits(result, 0, 2, None)[0].changes for result in results]
    assert np.array_equal(*changes)


def test_the_second_model_of_a_line_is_handed_what_the_first_has_passed(alone, monkeypatch):
    handed = []
    made = tasks.results.fit_on_ladder

    def noted(settings, rungs, report):
        handed.append(sorted(rungs or ()))
        return made(settings, rungs, report)

    monkeypatch.setattr(tasks.results, "fit_on_ladder", noted)
    line = replace(SETTINGS, seed=4, lambda_fair=2.5)
    for settings in (line, replace(line, lambda_fair=5.0), replace(line, lambda_ratio=0.5, lambda_fair=5.0)):
        with service.submit(tasks.fit(settings)) as ticket:
            assert ticket.wait(60, 0)
            ticket.result(0)
    first, second, other_line = handed
    assert (first, other_line) == ([], [])
    assert second
    assert max(second)[0] == 2.5


def test_with_data_that_are_forgotten_go_the_names_of_their_features():
    shipped = load_task("german")
    add_task(replace(shipped, spec=replace(shipped.spec, name="own-of-somebody")))
    tasks.fit(replace(SETTINGS, data="own-of-somebody", without="age"))
    assert tasks.fit.cache_info().currsize
    forget_task("own-of-somebody")
    assert tasks.fit.cache_info().currsize == 0


def test_every_ladder_is_climbed_once_the_nearest_first():
    here = replace(SETTINGS, lambda_ratio=GRIDS["lambda_ratio"][3], lambda_concepts=GRIDS["lambda_concepts"][5])
    lines = list(climbing.lines_from(here))
    assert len(lines) == len(set(lines)) == len(GRIDS["lambda_ratio"]) * len(GRIDS["lambda_concepts"])
    assert (lines[0].lambda_ratio, lines[0].lambda_concepts) == (here.lambda_ratio, here.lambda_concepts)

    def steps(line):
        names = ("lambda_ratio", "lambda_concepts")
        return sum(
            abs(GRIDS[name].index(getattr(line, name)) - GRIDS[name].index(getattr(here, name))) for name in names
        )

    distances = [steps(line) for line in lines]
    assert distances == sorted(distances)
    climbs = list(climbing.climbs_from(here))
    assert climbs == [tasks.climb(line, wholly=wholly) for wholly in (False, True) for line in lines]
    assert len(set(climbs)) == len(climbs)


def test_the_climber_goes_on_after_a_failure_and_takes_what_was_wanted_last(alone, monkeypatch):
    tried = []

    def failing(settings, lambda_fair, rungs, report):
        tried.append(settings)
        if len(tried) == 1:
            raise ValueError("no such data")
        return None, {}

    monkeypatch.setattr(tasks.results, "climb", failing)
    monkeypatch.setattr(climbing, "lines_from", lambda settings: iter([settings] * 2))
    climber = climbing.Climber()
    climber.want(SETTINGS)
    wait_until(lambda: tried)
    time.sleep(0.1)
    climber.want(replace(SETTINGS, seed=7))
    wait_until(lambda: len(tried) > 1)
    assert [settings.seed for settings in tried[:2]] == [0, 7]  # nothing more of what has failed


def test_nothing_is_climbed_that_nobody_has_looked_at_for_minutes(alone, monkeypatch):
    tried = []
    monkeypatch.setattr(tasks.results, "climb", lambda *about: (tried.append(about), {}))
    monkeypatch.setattr(climbing, "WANTED", -1.0)
    climbing.Climber().want(SETTINGS)
    time.sleep(0.2)
    assert not tried


def test_what_somebody_asks_for_comes_before_every_ladder():
    assert max(Priority) is Priority.LADDERS
    assert Priority.LADDERS.in_background
    assert Priority.LADDERS.is_ahead


@pytest.mark.parametrize("kind", [Kind.FOREGROUND, Kind.BACKGROUND])
def test_processes_share_the_session_of_the_server_so_that_the_idle_class_counts(kind, monkeypatch):
    """Linux shares the cores among sessions first: in one of its own a process of the idle class is anybody's equal."""
    monkeypatch.setenv("COMMOD_WARM_UP", "0")
    worker = WorkerProcess(kind)
    try:
        wait_until(lambda: worker.ready)
        pid = worker._process.pid
        assert os.getsid(pid) == os.getsid(0)
        assert os.getpgid(pid) == pid  # Ctrl-C at the server's terminal does not reach it
        assert (os.sched_getscheduler(pid) == os.SCHED_IDLE) is (kind is Kind.BACKGROUND)
    finally:
        worker.close()


def test_a_process_does_not_run_the_main_module_of_the_server(tmp_path, monkeypatch):
    """Which is a page's script while Streamlit draws."""
    script = tmp_path / "page.py"
    script.write_text("raise SystemExit('a page outside of the server')")
    main = types.ModuleType("__main__")
    main.__file__ = str(script)
    monkeypatch.setitem(sys.modules, "__main__", main)
    monkeypatch.setenv("COMMOD_WARM_UP", "0")
    worker = WorkerProcess(Kind.FOREGROUND)
    try:
        wait_until(lambda: worker.ready)
        assert worker._process.exitcode is None
    finally:
        worker.close()


@pytest.fixture
def climbs(monkeypatch):
    """Climbs at work, of two in all, which take until they are told to go on; three processes of the background."""
    queue = WorkQueue(4, background=3)
    monkeypatch.setattr(service, "queue", lambda: queue)
    monkeypatch.setattr(climbing, "QUIET", 0.2)
    at_work, go, ours = [], threading.Event(), [replace(SETTINGS, seed=seed) for seed in (51, 52)]

    def climb(settings, lambda_fair, rungs, report):
        if settings in [one.model() for one in ours]:  # and no climber of another test's
            at_work.append(settings)
            go.wait(10)
        return None, {}

    monkeypatch.setattr(tasks.results, "climb", climb)
    monkeypatch.setattr(climbing, "climbs_from", lambda _: (tasks.climb(one, wholly=False) for one in ours))
    yield at_work, queue
    go.set()


def test_all_processes_but_one_climb_once_nobody_has_asked_for_anything_for_a_while(climbs):
    at_work, _ = climbs
    climbing.Climber(2).want(SETTINGS)
    wait_until(lambda: len(at_work) == 2)


def test_while_somebody_waits_one_process_climbs(climbs):
    at_work, queue = climbs
    asked = threading.Event()
    with queue.submit("asked for", Stage(lambda report: asked.wait(10))):
        climbing.Climber(2).want(SETTINGS)
        wait_until(lambda: at_work)
        time.sleep(0.5)
        assert len(at_work) == 1
        assert queue.idle_for == 0.0
        asked.set()
    wait_until(lambda: queue.idle_for > 0.2)
    wait_until(lambda: len(at_work) == 2)
