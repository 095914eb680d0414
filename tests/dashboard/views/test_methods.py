"""The sweep behind a setting has the form of the update in use."""

from dataclasses import replace

import numpy as np
import pytest

from commod.dashboard.jobs import tasks
from commod.dashboard.state.settings import defaults
from commod.dashboard.views.methods import on_explore, own_form, own_method, own_sweep, sweep_of
from commod.experiments import prepare
from commod.experiments.sweep import fit_cell, lines_of
from commod.models import Commod

UPDATES = ("ratio", "affine", "decisions")


@pytest.mark.slow
@pytest.mark.parametrize("update", UPDATES)
def test_explore_trains_the_model_of_a_point(update):
    settings, scene = replace(defaults("german"), update=update), prepare("german")
    cells = [cell for line in lines_of(own_method(settings), form=own_form(settings)) for cell in line]
    places = [on_explore(settings, cell) for cell in cells]
    assert {there.update for there in places} == {update}
    assert len(set(places)) == len(cells)
    cell, there = next(pair for pair in zip(cells, places, strict=True) if pair[0].value == 4.0)
    g = Commod(scene.f, **there.commod_arguments()).fit(**scene.train.fit_arguments)
    swept = fit_cell(scene, cell, settings.fairness).decisions_test
    assert np.array_equal(g.predict(scene.test.X), swept)
    assert (swept != scene.decisions_test).any()


def test_each_form_has_its_own_sweep():
    swept = {own_sweep(replace(defaults("german"), update=update)).key for update in UPDATES}
    assert len(swept) == 3
    assert own_sweep(defaults("german")).key == tasks.sweep(defaults("german"), "commod").key


def test_limits_hold_for_every_form_of_commod_and_for_no_other_method():
    settings, limits = replace(defaults("german"), update="affine"), (("direction", "improve"), ("favourable", 1))
    form = own_form(settings, limits)
    assert form == (("update", "affine"), *limits)
    for name, taken in {"commod": form, "commod_decisions": limits, "lpp": ()}.items():
        assert sweep_of(name, settings, form).key == tasks.sweep(settings, name, taken).key
