"""AdvDebias: its written-out derivatives and its training loop against torch's autograd."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy
from torch.nn.functional import cross_entropy as several_cross_entropy

from commod.metrics import disparate_mistreatment, p_rule
from commod.models.competitors import AdvDebias
from commod.models.competitors.adv_debias import LinearAdversary, Network, debiased_gradient
from tests.fitting import case
from tests.models.competitors.cases import people, standardised

CRITERIA = ("demographic_parity", "equalized_odds")


def toy(seed, n=9, d=4, width=5):
    """Random rows, labels, groups and weights; float32 as in training."""
    draw = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=draw)

    rows = normal(n, d)
    label, group = (normal(n) > 0).float(), (normal(n) > 0).float()
    return rows, label, group, [normal(width, d), normal(width), normal(width), normal()], normal


def logits(tensors, rows, kept, scale):
    weight, bias, output, output_bias = tensors
    return (torch.relu(rows @ weight.T + bias) * kept * scale) @ output + output_bias


def adversary_logits(tensors, z, y):
    c, output, bias = tensors
    u = torch.sigmoid((1 + c.abs()) * z)
    inputs = u[:, None] if y is None else torch.stack([u, u * y, u * (1 - y)], dim=1)
    return inputs @ output.T + bias if output.ndim == 2 else inputs @ output + bias


@pytest.mark.longer
@pytest.mark.parametrize("dropout", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_predictors_derivatives_are_autograds(seed, dropout):
    rows, label, _, tensors, _ = toy(seed)
    kept, scale = torch.ones(9, 5, dtype=torch.bool), 1.0
    if dropout:
        kept, scale = torch.rand((9, 5), generator=torch.Generator().manual_seed(seed + 50)) > 0.4, 1 / 0.6
    step = Network(*tensors).forward(rows, kept * scale, scale)
    written = step.gradients((torch.sigmoid(step.logit) - label) / 9)

    free = [tensor.clone().requires_grad_() for tensor in tensors]
    z = logits(free, rows, kept, scale)
    torch.testing.assert_close(step.logit, z.detach())
    for own, expected in zip(written, torch.autograd.grad(cross_entropy(z, label), free), strict=True):
        assert own.shape == expected.shape
        torch.testing.assert_close(own, expected, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("sharpness", [1.0, -0.7])
@pytest.mark.parametrize("fairness", CRITERIA)
@pytest.mark.parametrize("dropout", [False, True])
@pytest.mark.parametrize("groups", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_adversarys_derivatives_are_autograds(fairness, dropout, sharpness, groups, weighted):
    rows, label, group, tensors, normal = toy(7)
    y = label if fairness == "equalized_odds" else None
    inputs = 1 if y is None else 3
    rival = [torch.tensor(sharpness), normal(inputs), normal()]
    if groups > 2:
        group = torch.arange(9.0) % groups
        rival = [torch.tensor(sharpness), normal(groups, inputs), normal(groups)]
    weight = normal(9).abs() if weighted else None
    kept = torch.ones(9, 5, dtype=torch.bool)
    if dropout:
        kept = torch.rand((9, 5), generator=torch.Generator().manual_seed(3)) > 0.4
    step = Network(*tensors).forward(rows, kept * 1.25, 1.25)
    own, pull = LinearAdversary(*rival).gradients(step.logit, group, y, weight)

    free = [tensor.clone().requires_grad_() for tensor in tensors]
    rival_free = [tensor.clone().requires_grad_() for tensor in rival]
    z = logits(free, rows, kept, 1.25)
    guess = adversary_logits(rival_free, z, y)
    of_each = (
        partial(several_cross_entropy, target=group.long()) if groups > 2 else partial(cross_entropy, target=group)
    )
    losses = of_each(guess, reduction="none")
    loss = (losses if weight is None else losses * weight).mean()
    expected = torch.autograd.grad(loss, [*rival_free, z, *free])
    for written, by_autograd in zip([*own, pull, *step.gradients(pull)], expected, strict=True):
        assert written.shape == by_autograd.shape
        torch.testing.assert_close(written, by_autograd, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("shape", [(5, 4), (5,), ()])
@pytest.mark.parametrize("alpha", [0.0, 0.1, 3.0])
def test_the_debiased_gradient_is_the_formula(shape, alpha):
    draw = torch.Generator().manual_seed(1)
    g_p, g_a = torch.randn(shape, generator=draw), torch.randn(shape, generator=draw)
    unit = g_a / torch.linalg.vector_norm(g_a)
    expected = g_p - (g_p * unit).sum() * unit - alpha * g_a
    torch.testing.assert_close(debiased_gradient(g_p, g_a, alpha), expected)
    # What is left does not help the adversary: it only harms it, by α.
    harm = (debiased_gradient(g_p, g_a, alpha) * g_a).sum()
    torch.testing.assert_close(harm, -alpha * (g_a * g_a).sum(), atol=1e-5, rtol=1e-5)


def test_the_debiased_gradient_by_hand_and_without_an_adversary():
    g_p, g_a = torch.tensor([3.0, 4.0]), torch.tensor([2.0, 0.0])
    torch.testing.assert_close(debiased_gradient(g_p, g_a, 0.5), torch.tensor([-1.0, 4.0]))
    torch.testing.assert_close(debiased_gradient(g_p, torch.zeros(2), 5.0), g_p)


@pytest.mark.parametrize("fairness", CRITERIA)
def test_training_is_the_algorithm_of_the_paper(fairness):
    """The whole loop in autograd: side by side for three epochs, then against each other, Adam for both."""
    X, label, group = people(60)
    alpha, width, epochs = 0.7, 6, 8
    g = AdvDebias(alpha=alpha, fairness=fairness, width=width, dropout=0.0, epochs=epochs, batch_size=60)
    g.fit(X, label, sensitive_features=group)

    dice = np.random.default_rng(0)

    def glorot(n_out, n_in):
        limit = np.sqrt(6 / (n_in + n_out))
        return torch.tensor(dice.uniform(-limit, limit, (n_out, n_in)), dtype=torch.float32)

    tensors = [glorot(width, 4), torch.zeros(width), glorot(1, width)[0], torch.zeros(())]
    rival = [torch.ones(()), glorot(1, 3 if fairness == "equalized_odds" else 1)[0], torch.zeros(())]
    for tensor in tensors + rival:
        tensor.requires_grad_()
    predictor, adversary = torch.optim.Adam(tensors, lr=1e-3), torch.optim.Adam(rival, lr=1e-2)
    x, y, s = (torch.tensor(values, dtype=torch.float32) for values in (standardised(X), label, group))
    for epoch in range(epochs):
        z = logits(tensors, x, torch.ones(60, width), 1.0)
        g_p = torch.autograd.grad(cross_entropy(z, y), tensors, retain_graph=True)
        guess = adversary_logits(rival, z, y if fairness == "equalized_odds" else None)
        both = torch.autograd.grad(cross_entropy(guess, s), [*tensors, *rival])
        g_a, own = both[:4], both[4:]
        for i, tensor in enumerate(tensors):
            tensor.grad = g_p[i]
            if epoch >= 3:
                unit = g_a[i] / (torch.linalg.vector_norm(g_a[i]) + 1e-12)
                tensor.grad = g_p[i] - (g_p[i] * unit).sum() * unit - alpha * g_a[i]
        for tensor, gradient in zip(rival, own, strict=True):
            tensor.grad = gradient
        predictor.step()
        adversary.step()
    for found, expected in zip(g.weights_, tensors, strict=True):
        np.testing.assert_allclose(found, expected.detach().numpy(), atol=2e-5)
    np.testing.assert_allclose(
        g.decision_function(X), logits(tensors, x, torch.ones(60, width), 1.0).detach().numpy(), atol=1e-4
    )


def mean_over_seeds(alpha, fairness, metric):
    c = case("law_school")
    quick = {"epochs": 20, "batch_size": 256, "width": 64, "learning_rate": 3e-3, "adversary_learning_rate": 3e-2}
    found = []
    for seed in (0, 1):
        g = AdvDebias(alpha=alpha, fairness=fairness, random_state=seed, **quick)
        g.fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive)
        found.append(metric(c.test.y, g.predict(c.test.X), sensitive_features=c.test.sensitive))
    return np.mean(found)


@pytest.mark.slow
@pytest.mark.longer
def test_a_larger_alpha_is_fairer():
    assert mean_over_seeds(1.0, "demographic_parity", p_rule) > mean_over_seeds(0.0, "demographic_parity", p_rule) + 0.3


@pytest.mark.slow
def test_a_larger_alpha_is_fairer_given_the_label():
    less = mean_over_seeds(0.0, "equalized_odds", disparate_mistreatment)
    assert mean_over_seeds(1.0, "equalized_odds", disparate_mistreatment) < less - 0.1


def test_training_ends_after_max_steps():
    X, y, s = people(100)
    few = AdvDebias(epochs=2, batch_size=25, width=8).fit(X, y, sensitive_features=s)
    cut = AdvDebias(epochs=50, max_steps=8, batch_size=25, width=8).fit(X, y, sensitive_features=s)
    longer = AdvDebias(epochs=50, max_steps=9, batch_size=25, width=8).fit(X, y, sensitive_features=s)
    np.testing.assert_array_equal(cut.decision_function(X), few.decision_function(X))
    assert (longer.decision_function(X) != few.decision_function(X)).any()


def test_it_trains_a_model_of_its_own_and_predicts_without_s():
    X, y, s = people()
    g = AdvDebias(epochs=30, batch_size=32, alpha=0.0, learning_rate=3e-3).fit(X, y, sensitive_features=s)
    assert np.mean(g.predict(X) == y) > 0.75
    p = g.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(p[:, 1] > 0.5, g.predict(X))
    np.testing.assert_allclose(np.log(p[:, 1] / p[:, 0]), g.decision_function(X), atol=1e-6)
    with pytest.raises(TypeError):
        g.predict(X, sensitive_features=s)
    with pytest.raises(TypeError):
        AdvDebias(base_model=None)


def test_without_groups_there_is_no_adversary_and_a_warning_says_so():
    X, y, s = people(80)
    quick = {"epochs": 5, "width": 6, "batch_size": 20}
    with pytest.warns(UserWarning, match="no adversary is trained"):
        alone = AdvDebias(alpha=3.0, **quick).fit(X, y)
    never_met = AdvDebias(alpha=3.0, pretrain_epochs=5, **quick).fit(X, y, sensitive_features=s)
    np.testing.assert_allclose(alone.decision_function(X), never_met.decision_function(X), atol=1e-6)


@pytest.mark.quick
def test_a_table_with_categories():
    c = case("compas")
    g = AdvDebias(epochs=1).fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive)
    assert isinstance(c.test.X, pd.DataFrame)
    assert set(g.predict(c.test.X)) <= {0, 1}
    assert list(g.feature_names_in_) == list(c.train.X.columns)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"alpha": -1.0}, "alpha must be a number of 0 or more"),
        ({"fairness": "parity"}, "fairness must be one of"),
        ({"dropout": 1.0}, "dropout is a share below 1"),
        ({"width": 0}, "width must be a whole number"),
        ({"epochs": 1.5}, "epochs must be a whole number"),
        ({"max_steps": 0}, "max_steps must be a whole number"),
        ({"batch_size": 0}, "batch_size must be a whole number"),
        ({"learning_rate": "fast"}, "learning_rate must be a number"),
        ({"adversary_learning_rate": -1}, "adversary_learning_rate must be a number"),
        pytest.param(
            {"dropout": 0.999},
            "dropout",
        ),
        pytest.param(
            {"random_state": None},
            "random_state must be a whole number",
        ),
        pytest.param(
            {"random_state": 1.5},
            "random_state must be a whole number",
        ),
        pytest.param(
            {"pretrain_epochs": -1},
            "pretrain_epochs must be a whole number of 0 or more",
        ),
    ],
    ids=str,
)
def test_bad_settings(setting, message):
    X, y, s = people(40)
    with pytest.raises(ValueError, match=message):
        AdvDebias(**{"epochs": 1, "width": 4, **setting}).fit(X, y, sensitive_features=s)
