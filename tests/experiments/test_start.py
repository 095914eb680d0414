"""Where data open: with which form, and how strong."""

from dataclasses import replace

import numpy as np
import pytest

from commod.datasets import make_task
from commod.datasets.load import lent
from commod.experiments import start
from commod.experiments.scene import prepare
from commod.experiments.search import LAMBDA_GRIDS
from commod.experiments.start import TRIED, Trial, _beats, _HeldOut, _rank, suited_start
from commod.experiments.sweep import concept_settings
from commod.metrics.figures import CRITERIA
from commod.models import Commod
from tests.benchmarks.starts import file_of

DP = "demographic_parity"


def test_what_is_tried_stands_on_the_slider():
    assert set(TRIED) <= set(LAMBDA_GRIDS["lambda_fair"])


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    """Fewer people than in the app, which takes 3,000."""
    monkeypatch.setattr(start, "ROWS", 900)


@pytest.fixture(autouse=True)
def trained_once(monkeypatch):
    """A model of the same rows is trained once for all tests."""
    trained = _HeldOut.trial

    def trial(self, update, lambda_fair):
        # The scene stands in the key itself, so that no other takes its place in memory.
        key = _Same(self.scene), start.ROWS, start.folds_of, update, lambda_fair
        if key in _trials:
            self._trials[update, lambda_fair] = _trials[key]
        else:
            _trials[key] = trained(self, update, lambda_fair)
        return _trials[key]

    monkeypatch.setattr(_HeldOut, "trial", trial)


class _Same:
    """Equal to itself alone, as a scene is not."""

    def __init__(self, scene):
        self.scene = scene

    def __eq__(self, other):
        return self.scene is other.scene

    def __hash__(self):
        return id(self.scene)


_trials = {}


def merits(trial):
    return [trial.accuracy, -trial.changed, trial.right, -trial.sure]


def test_own_data_open_with_a_form_that_no_other_beats(monkeypatch):
    held = _HeldOut(prepare("law_school"), DP)
    monkeypatch.setattr(start, "_HeldOut", lambda *given: held)
    found = suited_start(prepare("law_school"), DP)
    assert f"the fairest that was tried ({held.shown(held.fairest(), named=False)})" in found.text
    target = 0.5 * (held.of_f.fairness + held.fairest())
    trials = held.all_useful()
    least = {}
    for one in trials:  # in the order of λ_fair
        if one.fairness >= target:
            least.setdefault(one.update, one)
    assert set(least) == {"ratio", "affine", "decisions"}
    chosen = least[found.settings["update"]]
    assert found.settings == chosen.settings
    for other in least.values():
        assert other is chosen or any(np.array(merits(chosen)) > merits(other))
    assert found.settings["update"] == "decisions"
    for one in least.values():
        assert f"{one.changed:.1%} of decisions changed, {one.right:.0%} of these right by the record" in found.text
    assert found.papers == least["ratio"].settings
    y = np.concatenate([fold.held.y for fold in held.folds])
    assert f"f is right for {held.of_f.accuracy:.1%} of people" in found.text
    assert f"one answer for everybody for {max(y.mean(), 1 - y.mean()):.1%}" in found.text


def test_the_test_part_plays_no_part(monkeypatch):
    monkeypatch.setattr(start, "TRIED", (1.0, 3.0))
    scene = prepare("law_school")
    blind = replace(scene, test=scene.test.take(np.arange(10)), logit_test=scene.logit_test[:10])
    assert suited_start(blind, DP) == suited_start(scene, DP)


def test_held_out_people_are_judged_by_models_that_have_not_seen_them():
    scene = prepare("law_school")
    held = _HeldOut(scene, DP)
    trial = held.trial("affine", 3.0)
    changed, right, sure, decided = [], [], [], []
    for fold in held.folds:
        assert not set(fold.fit.X.index) & set(fold.held.X.index)
        g = Commod(fold.f, lambda_fair=3.0, update="affine", **concept_settings(scene.task))
        g.fit(**fold.fit.fit_arguments)
        before, after = fold.f.predict(fold.held.X), g.predict(fold.held.X)
        changed.extend(before != after)
        right.extend(after == fold.held.y)
        decided.extend(after)
        sure.extend(fold.f.predict_proba(fold.held.X).max(axis=1) > 0.9)
    changed, right, sure = np.array(changed), np.array(right), np.array(sure)
    assert trial.accuracy == pytest.approx(right.mean())
    assert trial.changed == pytest.approx(changed.mean())
    assert trial.right == pytest.approx(right[changed].mean())
    assert trial.sure == pytest.approx(sure[changed].mean())


def test_where_every_rule_turns_too_many_at_once_some_rule_is_found(monkeypatch):
    monkeypatch.setattr(start, "ROWS", 3_000)
    table, choice = file_of("grants")
    with lent(make_task(table, choice, name="own_grants").task):
        held = _HeldOut(prepare("own_grants"), DP)
        assert held.trial("decisions", 10.0).fairness > held.of_f.fairness


def test_what_another_beats_in_everything_is_not_opened():
    good = Trial("affine", 2.0, 0.8, 0.75, 0.08, 0.4, 0.2)
    bad = replace(good, update="ratio", accuracy=0.7, changed=0.12)
    other = replace(good, update="decisions", changed=0.06, accuracy=0.745, right=0.3, sure=0.6)
    assert _rank(bad, [good, bad, other], 0.8)[0]
    assert not _rank(good, [good, bad, other], 0.8)[0]
    assert not _rank(other, [good, bad, other], 0.8)[0]
    assert _beats(good, bad, 0.8)
    assert not _beats(bad, good, 0.8)
    assert not _beats(replace(good, fairness=0.7), bad, 0.8)  # it is less fair
    assert not _beats(other, bad, 0.8)  # f was surer


def test_groups_too_small_to_hold_out_are_judged_on_the_training_rows(monkeypatch):
    def none(*given):
        raise ValueError("too few")

    monkeypatch.setattr(start, "folds_of", none)
    monkeypatch.setattr(start, "ROWS", 10_000)
    held = _HeldOut(prepare("law_school"), DP)
    assert len(held.folds) == 1
    assert held.of_f.accuracy == pytest.approx(
        (prepare("law_school").decisions_train == prepare("law_school").train.y).mean()
    )


def test_a_fair_f_is_left_alone():
    scene = prepare("law_school")
    lots = scene.train.sensitive.sample(frac=1.0, random_state=0).to_numpy()
    fair = replace(scene, train=replace(scene.train, sensitive=scene.train.sensitive * 0 + lots))
    found = suited_start(fair, DP)
    assert found.settings == {"lambda_fair": 0.0}
    assert "no more than chance" in found.text
    assert CRITERIA[DP].figure.in_sentence in found.text


def test_where_nothing_makes_f_fairer_somebody_changes_all_the_same(monkeypatch):
    scene = prepare("law_school")
    monkeypatch.setattr(start, "LEAST_GAIN", 2.0)  # no gain is enough
    monkeypatch.setattr(start, "TRIED", (1.0, 2.0, 3.0))
    found = suited_start(scene, DP)
    assert "opens where the first decisions change" in found.text
    g = Commod(scene.f, **found.settings, **concept_settings(scene.task))
    g.fit(scene.train.X, scene.train.y, sensitive_features=scene.train.sensitive)
    assert (g.predict(scene.train.X) != scene.decisions_train).any()
    monkeypatch.setattr(start, "TRIED", (0.0,))
    assert suited_start(scene, DP).text.endswith("Nor does any change a single decision.")


def test_what_only_a_weaker_model_gains_is_found(monkeypatch):
    held = _HeldOut(prepare("law_school"), DP)
    good = Trial("ratio", 1.0, 0.9, 0.75, 0.08, 0.4, 0.2)
    none = replace(good, fairness=0.0)

    def trial(update, value):
        return held._trials.setdefault((update, value), good if (update, value) == ("ratio", 1.0) else none)

    monkeypatch.setattr(held, "trial", trial)
    assert held.best() == 0.9


@pytest.mark.parametrize(
    ("middle", "why"),
    [
        (0.8, "the smallest λ_fair that goes at least half of the way from f (P-Rule 0.250) to the fairest that was"),
        (0.3, "the fairest that was tried (f has P-Rule 0.250)."),  # which only the end of the slider reaches
    ],
)
def test_why_own_data_open_where_they_do(monkeypatch, middle, why):
    values = {1.0: 0.3, 2.0: middle, 3.0: 0.9}
    monkeypatch.setattr(start, "TRIED", tuple(values))
    monkeypatch.setattr(start, "FORMS", {"ratio": start.FORMS["ratio"]})
    held = _HeldOut(prepare("law_school"), DP)
    held.of_f = replace(held.of_f, fairness=0.25)

    def trial(update, value):
        return held._trials.setdefault((update, value), Trial(update, value, values[value], 0.75, 0.08, 0.4, 0.2))

    monkeypatch.setattr(held, "trial", trial)
    monkeypatch.setattr(held, "best", lambda: trial("ratio", 3.0).fairness)
    monkeypatch.setattr(start, "_HeldOut", lambda *given: held)
    assert why in suited_start(held.scene, DP).text
