"""P(S, Y | x): a joint distribution that is about right where the truth is known, and what is made of it."""

import numpy as np
import pytest

from commod.models.competitors.membership import Membership, densities, known_membership
from tests.models.competitors.cases import GivenJoint, people

pytestmark = pytest.mark.quick


def drawn(n=6000, seed=0, spread=1.0, groups=2):
    """People whose group and label are drawn from a known P(S, Y | x)."""
    rng = np.random.default_rng(seed)
    X, truth = rng.normal(size=(n, 3)), GivenJoint(3, seed=3, spread=spread, groups=groups)
    joint = truth.joint(X).reshape(n, -1)
    cell = (rng.random(n)[:, None] > joint.cumsum(axis=1)).sum(axis=1).clip(0, 2 * groups - 1)
    return X, cell % 2, cell // 2, joint.reshape(n, groups, 2)


@pytest.mark.parametrize("groups", [2, 4])
def test_it_recovers_known_probabilities(groups):
    X, y, s, truth = drawn(groups=groups)
    found = Membership().fit(X, y, s).joint(X)
    assert found.shape == (6000, groups, 2)
    assert np.abs(found - truth).mean() < 0.015
    assert np.abs(found - truth).max() < 0.15
    np.testing.assert_allclose(found.mean(axis=0), truth.mean(axis=0), atol=0.02)


def test_the_joint_sums_to_one_and_its_margin_is_the_group():
    X, y, s = people()
    model = Membership().fit(X, y, s)
    joint = model.joint(X)
    assert (joint >= 0).all()
    np.testing.assert_allclose(joint.sum(axis=(1, 2)), 1)
    # Feature 0 tells the group: with more of it, group 1 is more probable.
    low, high = model.joint(np.array([[-2.0, 0, 0, 0], [3.0, 0, 0, 0]])).sum(axis=2)
    assert low[1] < 0.2
    assert high[1] > 0.8


def test_a_smaller_c_tells_the_groups_apart_less():
    X, y, s = people()
    spread = [Membership(C=c).fit(X, y, s).joint(X).sum(axis=2)[:, 1].std() for c in (1e-4, 1.0)]
    assert spread[0] < spread[1]


def test_labels_depend_on_the_group_given_x():
    # y = s for everyone, x says nothing: a product P(S|x)·P(Y|x) would be ¼ everywhere.
    s = np.tile([0, 1], 50)
    joint = Membership().fit(np.random.default_rng(0).normal(size=(100, 2)), s, s).joint(np.zeros((1, 2)))[0]
    assert joint[0, 1] == joint[1, 0] == 0
    np.testing.assert_allclose(joint.diagonal(), 0.5, atol=0.1)


def test_it_is_deterministic_and_touches_no_global_generator():
    X, y, s = people()
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = (Membership().fit(X, y, s).joint(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


def test_a_temperature_is_set_on_held_out_rows():
    # 40 rows and 30 features that say nothing: a model of its training rows is far too sure of itself.
    rng = np.random.default_rng(1)
    X, y, s = rng.normal(size=(40, 30)) * 3, np.tile([0, 1], 20), np.repeat([0, 1], 20)
    calibrated = Membership().fit(X, y, s)
    assert calibrated.joint(X).max() < calibrated.model_.calibrated_classifiers_[0].estimator.predict_proba(X).max()
    assert np.median(calibrated.joint(rng.normal(size=(100, 30)) * 3).max(axis=(1, 2))) < 0.6


def test_few_rows_of_a_cell_go_without_calibration():
    X = np.arange(8.0)[:, None]
    y, s = np.array([0, 0, 0, 1, 0, 1, 1, 1]), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    joint = Membership().fit(X, y, s).joint(X)
    np.testing.assert_allclose(joint.sum(axis=(1, 2)), 1)


def test_rows_of_no_known_group_are_left_out_and_groups_are_numbered_without_gaps():
    X, y, s = people(200, groups=3)
    expected = Membership().fit(X[s > 0], y[s > 0], s[s > 0] - 1).joint(X)
    np.testing.assert_array_equal(Membership().fit(X, y, np.where(s == 0, -1, s)).joint(X), expected)


def test_known_groups_by_hand():
    joint = known_membership(np.array([1, 0]), 2, np.array([0.8, 0.3]))
    np.testing.assert_allclose(joint, [[[0, 0], [0.2, 0.8]], [[0.7, 0.3], [0, 0]]])
    of_three = known_membership(np.array([2]), 3, np.array([0.8]))
    np.testing.assert_allclose(of_three, [[[0, 0], [0, 0], [0.2, 0.8]]])


def test_densities_by_hand():
    joint = np.array([[[0.1, 0.2], [0.3, 0.4]], [[0.7, 0.1], [0.1, 0.1]]])  # by row, group, label
    np.testing.assert_allclose(densities(joint, "demographic_parity"), [[[0.3, 0.7]], [[0.8, 0.2]]])
    # By row, label, group.
    expected = [[[0.1, 0.3], [0.2, 0.4]], [[0.7, 0.1], [0.1, 0.1]]]
    np.testing.assert_allclose(densities(joint, "equalized_odds"), expected)


@pytest.mark.parametrize("fairness", ["demographic_parity", "equalized_odds"])
def test_densities_weigh_people_to_a_groups_rate(fairness):
    # Where group and label are certain, the weighted mean of decisions is the plain rate of the group (and label).
    rng = np.random.default_rng(2)
    s, y, decided = (rng.integers(0, 2, 200) for _ in range(3))
    joint = np.zeros((200, 2, 2))
    joint[np.arange(200), s, y] = 1.0
    density = densities(joint, fairness)
    rates = (density / density.mean(axis=0) * decided[:, None, None]).mean(axis=0)
    for group in (0, 1):
        if fairness == "demographic_parity":
            assert rates[0, group] == pytest.approx(decided[s == group].mean())
        else:
            for label in (0, 1):
                assert rates[label, group] == pytest.approx(decided[(s == group) & (y == label)].mean())
