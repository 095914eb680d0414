"""RNF: its loss against the formula written out, its pairs, and what each of the two trainings may move."""

import numpy as np
import pytest
import torch
from scipy.special import expit

from commod.models.competitors import RNF
from commod.models.competitors.neutralised import neutralised_loss, partners
from tests.fitting import case
from tests.models.competitors.cases import base, people, standardised

pytestmark = pytest.mark.quick


def by_hand(weights, pairs, alpha):
    """Eq. 4, pair by pair, in plain numbers."""
    hidden, hidden_bias, output, output_bias = weights

    def c(z):
        return expit(np.maximum(z @ hidden + hidden_bias, 0) @ output[:, 0] + output_bias[0])

    losses = []
    for z1, z2, p1, p2 in pairs:
        middle = c((z1 + z2) / 2)
        smooth = sum(abs(c(share * z1 + (1 - share) * z2) - middle) for share in (0.6, 0.7, 0.8, 0.9))
        losses.append((middle - (p1 + p2) / 2) ** 2 + alpha * smooth)
    return np.mean(losses)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_the_loss_is_the_formula_and_its_derivative_that_of_differences(alpha):
    rng = np.random.default_rng(0)
    shapes = ((3, 4), (4,), (4, 1), (1,))
    weights = [rng.normal(size=shape) for shape in shapes]
    z1, z2, (p1, p2) = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), rng.random((2, 5))
    pairs = list(zip(z1, z2, p1, p2, strict=True))
    tensors = [torch.tensor(weight, requires_grad=True) for weight in weights]
    found = neutralised_loss(tensors, *(torch.tensor(part) for part in (z1, z2, p1, p2)), alpha)
    assert found.item() == pytest.approx(by_hand(weights, pairs, alpha))
    found.backward()
    for weight, tensor in zip(weights, tensors, strict=True):
        for place in np.ndindex(weight.shape):
            kept = weight[place]
            sides = []
            for step in (1e-6, -1e-6):
                weight[place] = kept + step
                sides.append(by_hand(weights, pairs, alpha))
            weight[place] = kept
            assert tensor.grad[place].item() == pytest.approx((sides[0] - sides[1]) / 2e-6, abs=1e-5)


@pytest.mark.parametrize("groups", [2, 4])
def test_partners_have_the_same_label_and_another_group(groups):
    rng = np.random.default_rng(1)
    y, s = rng.integers(0, 2, 64), rng.integers(0, groups, 64)
    met = set()
    for _ in range(30):
        ones, twos = partners(y, s, rng)
        assert ones.tolist() == list(range(64))
        assert (y[ones] == y[twos]).all()
        assert (s[ones] != s[twos]).all()
        met.add((int(ones[0]), int(twos[0])))
    assert len(met) > 5  # drawn anew each time
    alone, nobody = partners(np.array([0, 0, 1]), np.array([0, 1, 1]), rng)
    assert (alone.tolist(), nobody.tolist()) == ([0, 1], [1, 0])


@pytest.mark.slow
def test_the_second_training_leaves_the_encoder_as_it_was():
    X, y, s = people(300)
    models = [RNF(alpha=alpha, steps=60, width=8).fit(X, y, sensitive_features=s) for alpha in (0.0, 0.3)]
    for one, other in zip(*(model.encoder_weights_ for model in models), strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.allclose(models[0].head_weights_[0], models[1].head_weights_[0])


def test_a_score_is_the_networks_with_the_softening_undone():
    X, y, s = people(300)
    g = RNF(steps=60, width=8).fit(X, y, sensitive_features=s)
    layers = [torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)]
    network = torch.nn.Sequential(*layers).double()
    values = [value.T for value in (*g.encoder_weights_, *g.head_weights_)]
    torch.nn.utils.vector_to_parameters(
        torch.from_numpy(np.concatenate([value.ravel() for value in values])), network.parameters()
    )
    expected = torch.sigmoid(2.0 * network(torch.from_numpy(standardised(X)))).detach().numpy()[:, 0]
    np.testing.assert_allclose(g.predict_proba(X)[:, 1], expected)


@pytest.mark.slow  # the formula is tested above, its way on other data by test_interface.py
def test_smoothness_draws_scores_together_and_brings_equal_errors_nearer_on_law_school():
    c = case("law_school")
    s, y = c.train.sensitive.to_numpy(), c.train.y.to_numpy()
    apart, spread = [], []
    for alpha in (0.0, 0.1):
        p = RNF(c.f, alpha=alpha).fit(c.train.X, y, sensitive_features=s).predict_proba(c.train.X)[:, 1]
        apart.append(sum(p[(y == label) & (s == 1)].mean() - p[(y == label) & (s == 0)].mean() for label in (0, 1)))
        spread.append(p.std())
        assert np.mean((p > 0.5) == y) > 0.74
    assert apart[1] < 0.8 * apart[0]
    assert spread[1] < spread[0]


def test_the_line_is_moved_with_the_threshold_and_with_a_budget():
    X, y, s = people(300)
    f = base(X, y)
    p = RNF(f, steps=60, width=8).fit(X, y, sensitive_features=s).predict_proba(X)[:, 1]
    strict = RNF(f, threshold=0.6, steps=60, width=8).fit(X, y, sensitive_features=s)
    np.testing.assert_array_equal(strict.predict(X), p > 0.6)
    few = RNF(f, threshold="budget:0.2", steps=60, width=8).fit(X, y, sensitive_features=s)
    assert few.predict(X).mean() == pytest.approx(0.2, abs=0.005)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"alpha": -0.1}, "alpha must be a number of 0 or more"),
        ({"temperature": 0.5}, "temperature must be 1 or more"),
        ({"steps": 0}, "steps must be a whole number of 1 or more"),
    ],
    ids=str,
)
def test_bad_settings(setting, message):
    X, y, s = people(60)
    with pytest.raises(ValueError, match=message):
        RNF(**setting).fit(X, y, sensitive_features=s)
