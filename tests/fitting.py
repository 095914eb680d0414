"""Shared by tests and benchmarks: splits with their base model, and fits on them."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

from commod import Commod, load_task
from commod.datasets import Split, Task
from commod.experiments import Sweep, prepare, sweep_method
from commod.experiments.sweep import EFFORT
from commod.models.base_models import train_base_model
from commod.models.competitors import METHODS


@dataclass(frozen=True)
class Case:
    task: Task
    train: Split
    test: Split
    f: object


@cache
def case(name: str, seed: int = 0, base_model: str = "logistic_regression") -> Case:
    task = load_task(name)
    train, test = task.split(seed=seed)
    return Case(task, train, test, train_base_model(task, train, base_model))


def fit(case: Case, callback=None, warm_start=None, **settings) -> Commod:
    """Fit COMMOD; with a `warm_start` for several fits along λ_fair, quicker and the same to the last digit."""
    model = Commod(case.f, **settings)
    given = {"sensitive_features": case.train.sensitive, "callback": callback, "warm_start": warm_start}
    return model.fit(case.train.X, case.train.y, **given)


@cache
def swept(method: str, fairness: str = "demographic_parity") -> Sweep:
    """A third of a method's sweep on Law School; of COMMOD, six λ_fair at two values of λ_ratio."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("commod.experiments.sweep.EFFORT", EFFORT // 3)
        own = METHODS["commod"]
        few = replace(own.knob, sweep=(0.0, 1.0, 2.0, 3.0, 5.0, 8.0))
        patch.setitem(METHODS, "commod", replace(own, knob=few, others={"lambda_ratio": (0.05, 0.2)}))
        return sweep_method(prepare("law_school"), method, fairness)


def test_change_rate(case: Case, g: Commod) -> float:
    return float(np.mean(case.f.predict(case.test.X) != g.predict(case.test.X)))


test_change_rate.__test__ = False
