"""Where new data open: half of the fairness within reach, or the sentence that f needs none."""

from dataclasses import replace

import numpy as np
import pytest

from commod.experiments import start
from commod.experiments.scene import prepare
from commod.experiments.search import LAMBDA_GRIDS
from commod.experiments.start import TRIED, suited_start
from commod.experiments.sweep import concept_settings
from commod.metrics.figures import CRITERIA
from commod.models import Commod


def test_what_is_tried_stands_on_the_slider():
    assert set(TRIED) <= set(LAMBDA_GRIDS["lambda_fair"])


@pytest.fixture(scope="module")
def found():
    return suited_start(prepare("law_school"), "demographic_parity")


def test_half_of_what_is_within_reach_is_bought_with_the_least(found):
    assert found.settings == {"lambda_fair": 2.5, "update": "ratio"}
    assert "P-Rule 0.306 for f, 0.671 there, 0.942 at best" in found.told


def test_the_test_part_plays_no_part(found):
    scene = prepare("law_school")
    blind = replace(scene, test=scene.test.take(np.arange(10)), logit_test=scene.logit_test[:10])
    assert suited_start(blind, "demographic_parity") == found


def test_a_fair_f_is_left_alone():
    scene = prepare("law_school")
    lots = scene.train.sensitive.sample(frac=1.0, random_state=0).to_numpy()
    fair = replace(scene, train=replace(scene.train, sensitive=scene.train.sensitive * 0 + lots))
    found = suited_start(fair, "demographic_parity")
    assert found.settings == {"lambda_fair": 0.0}
    assert "f treats the groups alike" in found.told
    assert CRITERIA["demographic_parity"].figure.in_sentence in found.told


def test_where_nothing_makes_f_fairer_somebody_changes_all_the_same(monkeypatch):
    scene = prepare("law_school")
    monkeypatch.setattr(start, "LEAST_GAIN", 2.0)  # no gain is enough
    found = suited_start(scene, "demographic_parity")
    assert "opens where the first decisions change" in found.told
    g = Commod(scene.f, **found.settings, **concept_settings(scene.task))
    g.fit(scene.train.X, scene.train.y, sensitive_features=scene.train.sensitive)
    assert (g.predict(scene.train.X) != scene.decisions_train).any()
    monkeypatch.setattr(start, "TRIED", (0.0,))
    assert suited_start(scene, "demographic_parity").told.endswith("Nor does any change a single decision.")
