"""Scenes are prepared once, and one whose f takes long holds nobody else up."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import numpy as np
import pandas as pd
import pytest

from commod.datasets import add_task, forget_task, load_task
from commod.experiments import prepare, scene
from commod.metrics import compare_decisions
from tests.waiting import PATIENCE

pytestmark = pytest.mark.quick


@pytest.fixture
def own():
    """Makes data sets of the test's own, under these names; they are forgotten at its end."""
    names = []

    def make(name):
        task = load_task("german")
        add_task(replace(task, spec=replace(task.spec, name=name)))
        names.append(name)
        return name

    yield make
    for name in names:
        forget_task(name)


@pytest.fixture
def trainings(monkeypatch):
    """Trainings of f on the data set "slow" wait until they are let go; notes which data sets an f was trained on."""

    class Trainings:
        def __init__(self):
            self.done, self.began, self.go_on = [], Event(), Event()

        def train(self, task, train, base_model):
            if task.name == "slow":
                self.began.set()
                assert self.go_on.wait(PATIENCE)
            self.done.append(task.name)
            return sound(task, train, base_model)

    sound = scene.train_base_model
    made = Trainings()
    monkeypatch.setattr(scene, "train_base_model", made.train)
    yield made
    made.go_on.set()


@pytest.fixture
def others():
    """Threads beside the test's own."""
    with ThreadPoolExecutor(4, thread_name_prefix="other") as threads:
        yield threads


def test_a_scene_is_prepared_once(own, trainings):
    name = own("quick")
    assert prepare(name) is prepare(name)
    assert prepare(name, seed=1) is not prepare(name)
    assert trainings.done == ["quick", "quick"]


def test_a_slow_f_holds_up_neither_a_scene_that_is_kept_nor_the_making_of_another(own, others, trainings):
    kept, new = own("kept"), own("new")
    scene_kept = prepare(kept)
    slow = others.submit(prepare, own("slow"))
    assert trainings.began.wait(PATIENCE)
    assert others.submit(prepare, kept).result(PATIENCE) is scene_kept
    assert others.submit(prepare, new).result(PATIENCE).task.name == "new"
    assert not slow.done()
    trainings.go_on.set()
    assert slow.result(PATIENCE).task.name == "slow"


def test_two_who_want_one_scene_train_its_f_once(own, others, trainings, monkeypatch):
    waits = Event()

    class Lock:
        """Says when somebody else has to wait for it."""

        def __init__(self):
            self._lock = real()

        def __enter__(self):
            if not self._lock.acquire(blocking=False):
                waits.set()
                self._lock.acquire()

        def __exit__(self, *_):
            self._lock.release()

    real = scene.Lock
    monkeypatch.setattr(scene, "Lock", Lock)
    name = own("slow")
    first = others.submit(prepare, name)
    assert trainings.began.wait(PATIENCE)
    second = others.submit(prepare, name)
    assert waits.wait(PATIENCE)
    trainings.go_on.set()
    assert first.result(PATIENCE) is second.result(PATIENCE) is prepare(name)
    assert trainings.done == ["slow"]


def test_an_f_that_cannot_be_trained_keeps_nobody_from_trying_again(own, trainings, monkeypatch):
    name = own("quick")

    def fail(*_):
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(scene, "train_base_model", fail)
        with pytest.raises(MemoryError):
            prepare(name)
    assert prepare(name).task.name == name


def test_a_scene_whose_data_are_forgotten_while_it_is_made_is_not_kept(own, others, trainings):
    name = own("slow")
    first = others.submit(prepare, name)
    assert trainings.began.wait(PATIENCE)
    forget_task(name)
    trainings.go_on.set()
    assert first.result(PATIENCE).task.name == name  # for who has asked in time
    with pytest.raises(ValueError, match="There is no task"):
        prepare(name)


def test_forgetting_one_data_set_leaves_the_scenes_of_others(own, trainings):
    one, other = own("one"), own("other")
    prepare(one)
    kept, shipped = prepare(other), prepare("law_school")
    forget_task(one)
    assert prepare(other) is kept
    assert prepare("law_school") is shipped
    assert own("one") == one  # data of the same name that come later are not taken for those that went
    prepare(one)
    assert trainings.done.count("one") == 2


def test_groups_known_in_part_and_weights_are_told_and_used(own):
    task = load_task("hiring.race_sex")
    rng = np.random.default_rng(1)
    unknown = task.sensitive.where(rng.random(len(task.y)) > 0.2, -1)
    weight = pd.Series(rng.integers(1, 4, len(task.y)).astype(float), index=task.y.index)
    name = own("survey")
    add_task(replace(task, spec=replace(task.spec, name=name), sensitive=unknown, weight=weight))
    prepared = prepare(name)
    assert (prepared.test.sensitive >= 0).all()
    people = len(prepared.test) + task_unknown(name)
    assert prepared.basis == (
        f"Measured on {len(prepared.test):,} of {people:,} test applicants, those whose group is known. Rates and "
        "figures are weighted; people are counted as rows."
    )
    test, decided = prepared.test, prepared.decisions_test
    again = np.repeat(np.arange(len(test)), test.weight.astype(int))
    rows = test.take(again)
    expected = compare_decisions(rows.y, decided[again], decided[again], sensitive_features=rows.sensitive)["g"]
    for figure, value in prepared.figures(decided).items():
        assert value == pytest.approx(expected[figure], abs=1e-12)
    assert prepare("hiring").basis == ""


def task_unknown(name):
    return load_task(name).n_unknown_test(0)
