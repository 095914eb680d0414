"""λ_fair paths that are precomputed while nobody waits, and shared by all processes."""

import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from commod.dashboard.jobs import paths, service, tasks
from commod.dashboard.jobs.queue import JobStage, WorkQueue
from commod.dashboard.jobs.scheduling import Priority
from commod.dashboard.model.training import fit_on_path, fit_result, forget_warm_starts, solve_path
from commod.dashboard.state.settings import GRIDS, defaults
from commod.dashboard.views.methods import usual_sweeps
from commod.datasets import add_task, forget_task, load_task
from commod.experiments import prepare
from commod.models import best_response
from tests.waiting import PATIENCE, wait_until

SETTINGS = defaults("german")


@pytest.fixture
def alone(monkeypatch):
    """A queue of this test's own, that computes here."""
    queue = WorkQueue(1, 1)
    monkeypatch.setattr(service, "queue", lambda: queue)
    return queue


@pytest.fixture
def precomputer(monkeypatch):
    """Makes precomputers, which have nothing left to do when the test is over."""
    made = []
    tasks.precompute.cache_clear()  # tasks hold the function that the last test has put there

    def make(threads=1):
        made.append(paths.PathPrecomputer(threads))
        return made[-1]

    yield make
    for each in made:
        with each._changed:
            each._wanted.clear()
    wait_until(lambda: not service.queue()._jobs)  # monkeypatch still has this test's queue
    tasks.precompute.cache_clear()


def test_a_model_on_a_known_path_is_the_same_to_the_last_digit():
    settings = replace(SETTINGS, seed=3)
    top = replace(settings, lambda_fair=GRIDS["lambda_fair"][-1])
    _, points = fit_on_path(top, prepare(*top.scene()), None)
    forget_warm_starts("german")  # as in another process, which gets the path
    lower = replace(settings, lambda_fair=3.5)
    by_path, known = fit_on_path(
        lower, prepare(*lower.scene()), {key: point for key, point in points.items() if key[0] < 2}
    )
    forget_warm_starts("german")
    alone = fit_result(lower)
    assert np.array_equal(by_path.g.coef_, alone.g.coef_)
    assert by_path.path.equals(alone.path)
    assert {key for key in points if key[0] < 3.5} == {key for key in known if key[0] < 3.5}


def test_a_path_that_is_wholly_solved_gives_every_model_of_it_without_solving_anything(monkeypatch):
    settings = replace(SETTINGS, seed=5)
    _, points = solve_path(settings, GRIDS["lambda_fair"], prepare(*settings.scene()), None, lambda share: None)
    wanted = replace(settings, lambda_fair=2.5, k=4)
    forget_warm_starts("german")
    alone = fit_result(wanted)
    forget_warm_starts("german")
    monkeypatch.setattr(best_response, "_newton", None)
    read, _ = fit_on_path(wanted, prepare(*wanted.scene()), points)
    assert np.array_equal(read.g.coef_, alone.g.coef_)
    assert read.path.equals(alone.path)
    assert read.g.concepts_.equals(alone.g.concepts_)


@pytest.mark.slow
@pytest.mark.with_refits
def test_refits_are_the_same_for_every_k():
    results = [fit_result(replace(SETTINGS, k=k)) for k in (1, 4)]
    one, other = (tasks.refits(result) for result in results)
    assert one == other
    changes = [tasks.some_refits(result, "rows", 0, 2, None)[0].changes for result in results]
    assert np.array_equal(*changes)


def test_the_second_model_of_a_path_gets_what_the_first_has_solved(alone, monkeypatch):
    handed = []
    made = tasks.fit_on_path

    def noted(settings, scene, points, report):
        handed.append(sorted(points or ()))
        return made(settings, scene, points, report)

    monkeypatch.setattr(tasks, "fit_on_path", noted)
    tasks.fit.cache_clear()
    line = replace(SETTINGS, seed=4, lambda_fair=2.5)
    for settings in (line, replace(line, lambda_fair=5.0), replace(line, lambda_ratio=0.5, lambda_fair=5.0)):
        with service.submit(tasks.fit(settings)) as ticket:
            wait_until(lambda ticket=ticket: ticket.has(0))
            ticket.result(0)
    first, second, other_line = handed
    assert (first, other_line) == ([], [])
    assert second
    assert max(second)[0] == 2.5


def test_with_data_that_are_forgotten_go_the_names_of_their_features():
    shipped = load_task("german")
    add_task(replace(shipped, spec=replace(shipped.spec, name="own-of-somebody")))
    settings = replace(SETTINGS, data="own-of-somebody", without="age")
    tasks.fit(settings)
    tasks.precompute(settings, wholly=True)
    assert tasks.fit.cache_info().currsize
    assert tasks.precompute.cache_info().currsize
    forget_task("own-of-somebody")
    assert tasks.fit.cache_info().currsize == tasks.precompute.cache_info().currsize == 0


def test_every_path_is_precomputed_once_first_those_that_one_slider_leads_to():
    here = replace(SETTINGS, lambda_ratio=GRIDS["lambda_ratio"][3], lambda_concepts=GRIDS["lambda_concepts"][5])
    lines = list(paths.neighbours_of(here))
    assert len(lines) == len(set(lines)) == len(GRIDS["lambda_ratio"]) * len(GRIDS["lambda_concepts"])
    assert (lines[0].lambda_ratio, lines[0].lambda_concepts) == (here.lambda_ratio, here.lambda_concepts)

    def steps(line):
        moved = [
            abs(GRIDS[name].index(getattr(line, name)) - GRIDS[name].index(getattr(here, name)))
            for name in ("lambda_ratio", "lambda_concepts")
        ]
        return sum(step > 0 for step in moved), sum(moved)

    distances = [steps(line) for line in lines]
    assert distances == sorted(distances)
    first, *wanted = paths.paths_from(here)
    assert wanted == [tasks.precompute(line, wholly=wholly) for wholly in (False, True) for line in lines]
    assert len(set(wanted)) == len(wanted)
    assert first == tasks.precompute(here, wholly=True)


def test_what_other_pages_ask_for_follows_the_first_path_and_is_theirs(monkeypatch):
    asked = usual_sweeps(SETTINGS)
    assert [task.kind for task in asked] == ["blind_limits_of"] + ["sweep_method"] * 9
    assert {task.about[1] for task in asked[1:3]} == {"commod", "commod_decisions"}
    assert asked[-1].about[1] == "adv_debias"
    own, *wanted = paths.paths_from(SETTINGS, asked)
    ends = sum(1 for _ in paths.neighbours_of(SETTINGS))
    assert [own, *wanted[: len(asked) - 1]] == [tasks.precompute(SETTINGS, wholly=True), *asked[:-1]]
    assert wanted[len(asked) - 1 + ends] == asked[-1]
    others = [task for task in wanted if task in asked]
    assert len(others) == len(asked)
    assert all(task.steps[0].priority is Priority.PATHS for task in others)

    given = []
    monkeypatch.setattr(paths, "_precomputer", lambda: SimpleNamespace(want=lambda _, pages: given.append(pages)))
    monkeypatch.setattr(paths, "prefetches", lambda _: True)
    monkeypatch.setattr(paths, "has_trained", lambda _: True)
    paths.precompute_paths(SETTINGS, asked)
    shipped = load_task("german")
    add_task(replace(shipped, spec=replace(shipped.spec, name="own-of-somebody")))
    paths.precompute_paths(replace(SETTINGS, data="own-of-somebody"), asked)
    forget_task("own-of-somebody")
    assert given == [asked, ()]


def test_the_precomputer_goes_on_after_a_failure_and_takes_what_was_wanted_last(alone, precomputer, monkeypatch):
    tried = []

    def failing(settings, values, scene, points, report):
        tried.append(settings)
        if len(tried) == 1:
            raise ValueError("no such data")
        return None, {}

    monkeypatch.setattr(tasks, "solve_path", failing)
    monkeypatch.setattr(paths, "neighbours_of", lambda settings: iter([settings] * 2))
    made = precomputer()
    made.want(SETTINGS)
    wait_until(lambda: tried and not made._wanted)
    made.want(replace(SETTINGS, seed=7))
    wait_until(lambda: len(tried) > 1)
    assert [settings.seed for settings in tried[:2]] == [0, 7]  # nothing more of what has failed


def test_when_the_hand_moves_the_paths_near_it_come_next_and_none_twice(alone, precomputer, monkeypatch):
    solved, go = [], threading.Semaphore(0)
    here = replace(SETTINGS, seed=61)
    far = replace(here, lambda_ratio=GRIDS["lambda_ratio"][-1])

    def solve(settings, values, scene, points, report):
        solved.append(settings)
        go.acquire(timeout=PATIENCE)
        return None, {}

    monkeypatch.setattr(tasks, "solve_path", solve)
    monkeypatch.setattr(paths, "neighbours_of", lambda settings: iter([settings, here, far]))
    made = precomputer()
    made.want(here)
    wait_until(lambda: solved)
    made.want(far)  # while the first is at work
    go.release(10)
    wait_until(lambda: len(solved) == 4)
    ratios = [settings.lambda_ratio for settings in solved]
    assert ratios == [here.lambda_ratio, far.lambda_ratio, far.lambda_ratio, here.lambda_ratio]


def test_data_on_two_screens_take_turns(alone, precomputer, monkeypatch):
    """Sixty people looked at two data sets, and one of them had no path for minutes."""
    solved, go = [], threading.Semaphore(0)

    def solve(settings, values, scene, points, report):
        if settings.seed in (62, 63):  # and no precomputer of another test's
            solved.append(settings.seed)
            go.acquire(timeout=PATIENCE)
        return None, {}

    monkeypatch.setattr(tasks, "solve_path", solve)
    monkeypatch.setattr(paths, "neighbours_of", lambda settings: iter([settings]))
    made = precomputer()
    for seed in (62, 63):
        made.want(replace(SETTINGS, seed=seed))
        wait_until(lambda: solved)
    go.release(10)
    wait_until(lambda: len(solved) == 4)
    assert solved == [62, 63, 63, 62]


def test_nothing_is_precomputed_that_nobody_has_looked_at_for_minutes(alone, precomputer, monkeypatch):
    tried = []
    monkeypatch.setattr(tasks, "solve_path", lambda *about, scene, points, report: (tried.append(about), {}))
    monkeypatch.setattr(paths, "WANTED", -1.0)
    precomputer().want(SETTINGS)
    time.sleep(0.2)
    assert not tried


def test_what_somebody_asks_for_comes_before_every_path():
    assert max(Priority) is Priority.PATHS
    assert Priority.PATHS.in_background
    assert Priority.PATHS.is_prefetch


@pytest.fixture
def at_work_on_paths(precomputer, monkeypatch):
    """Paths at work, of two in all, which take until the test lets them go; three processes of the background."""
    queue = WorkQueue(1, 3)
    monkeypatch.setattr(service, "queue", lambda: queue)
    monkeypatch.setattr(paths, "QUIET", 0.2)
    at_work, go, ours = [], threading.Event(), [replace(SETTINGS, seed=seed) for seed in (51, 52)]

    def solve(settings, values, scene, points, report):
        at_work.append(settings)
        go.wait(PATIENCE)
        return None, {}

    monkeypatch.setattr(tasks, "solve_path", solve)
    monkeypatch.setattr(paths, "paths_from", lambda *_: (tasks.precompute(one, wholly=False) for one in ours))
    yield at_work, queue
    go.set()


def test_all_processes_but_one_precompute_once_nobody_has_asked_for_anything_for_a_while(at_work_on_paths, precomputer):
    at_work, _ = at_work_on_paths
    precomputer(2).want(SETTINGS)
    wait_until(lambda: len(at_work) == 2)


def test_while_somebody_waits_one_process_precomputes(at_work_on_paths, precomputer):
    at_work, queue = at_work_on_paths
    asked = threading.Event()
    with queue.submit("asked for", JobStage(lambda report: asked.wait(PATIENCE))):
        precomputer(2).want(SETTINGS)
        wait_until(lambda: at_work)
        time.sleep(0.5)
        assert len(at_work) == 1
        assert queue.idle_for == 0.0
        asked.set()
    wait_until(lambda: queue.idle_for > 0.2)
    wait_until(lambda: len(at_work) == 2)


def test_who_waits_for_quiet_does_not_start_when_the_next_person_arrives(at_work_on_paths, precomputer):
    """Review, bug 5: threads that had nothing to do were woken by the next visitor, and all began at that moment."""
    at_work, queue = at_work_on_paths
    made = precomputer(2)
    time.sleep(0.6)  # quiet, and nothing to do
    asked = threading.Event()
    with queue.submit("asked for", JobStage(lambda report: asked.wait(PATIENCE))):
        made.want(SETTINGS)
        wait_until(lambda: at_work)
        time.sleep(0.5)
        assert len(at_work) == 1
        asked.set()


def test_a_setting_off_the_grid_does_not_end_the_thread(alone, precomputer, monkeypatch):
    """Review, bug 6."""
    tried = []
    monkeypatch.setattr(tasks, "solve_path", lambda *about, scene, points, report: (tried.append(about), {}))
    made = precomputer()
    made.want(replace(SETTINGS, lambda_ratio=0.123))
    wait_until(lambda: not made._wanted)
    tried.clear()
    made.want(SETTINGS)
    wait_until(lambda: tried)
