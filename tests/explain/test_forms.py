"""What is said of each form of the update, against the model."""

import re

import numpy as np
import pandas as pd
import pytest

from commod.explain import explain_concepts
from commod.explain.concepts import form_in_words, formula_in_words, guess_in_words, starts_in_words
from tests.fitting import case, fit

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module", params=["ratio", "affine", "decisions"])
def fitted(request):
    c = case("compas")
    return c, fit(c, lambda_fair=4.0, n_concepts=2, update=request.param)


def numbers(text):
    return [float(found) for found in re.findall(r"-?\d+\.\d\d", text.replace("−", "-"))]


@pytest.mark.slow
@pytest.mark.longer
def test_the_starts_are_those_of_the_model(fitted):
    c, g = fitted
    wanted = [g.intercept_]
    if g.update == "affine":
        wanted = [g.intercept_, g.shift_intercept_]
    if g.decides:
        wanted = [g.shift_intercept_, g.shift_intercept_ + g.rescaler_.shift_step, g.intercept_]
    assert numbers(starts_in_words(g, c.task.spec.outcomes)) == [round(value, 2) for value in wanted]


def test_only_the_form_at_hand_is_spoken_of(fitted):
    c, g = fitted
    said, formula = form_in_words(g, c.task.spec.outcomes), formula_in_words(g, c.task.spec.outcomes, "one half")
    assert ("balance" in said) == ("balance" in formula) == g.decides
    assert ("takes back" in formula) == ("by r" in formula) == (not g.decides)
    assert ("s = " in said) == ("adds s" in formula) == (g.update == "affine")


def test_the_balance_is_what_is_said():
    c = case("compas")
    g = fit(c, lambda_fair=4.0, n_concepts=2, update="decisions")
    rejected, accepted, share = numbers(starts_in_words(g, c.task.spec.outcomes))
    logit = g.margin_of_f(c.test.X)
    concepts = g.concept_activations(c.test.X) @ g.shift_weights_
    made = np.where(logit > 0, accepted, rejected) + share * logit + concepts.to_numpy()
    np.testing.assert_allclose(made, g.balance(c.test.X), atol=0.02 * (1 + np.abs(logit).max()))
    assert (g.predict(c.test.X) == (g.balance(c.test.X) > 0)).all()


def test_in_one_direction_only_its_start_is_told():
    c = case("compas")
    g = fit(c, lambda_fair=4.0, update="decisions", direction="improve", favourable=c.task.spec.favourable)
    says = f"where f says “{c.task.spec.outcomes[1 - c.task.spec.favourable]}”"
    said = starts_in_words(g, c.task.spec.outcomes)
    assert says in said
    assert said.count("where f says") == 1


def test_a_concept_of_a_balance_tells_both_ends():
    c = case("law_school")
    g = fit(c, lambda_fair=8.0, n_concepts=2, lambda_ratio=0.0, update="decisions")
    before, after = c.f.predict(c.test.X), g.predict(c.test.X)
    activations = g.concept_activations(c.test.X)
    frame = explain_concepts(g, c.task, activations, before, after)
    assert (frame["part"] == "the balance").all()
    for name, row in frame.iterrows():
        assert "It speaks for “passes the bar” for students with" in row["sentence"]
        value = activations[name]
        least = (value < value.mean() - value.std(ddof=0)).to_numpy()
        lost = int((least & (before == 1) & (after == 0)).sum())
        assert f"Of the {least.sum():,} who show it least, {lost:,} lost “passes the bar”." in row["sentence"]


def test_the_guess_of_the_group_is_told_of_the_concept_that_guesses_best():
    frame = pd.DataFrame(
        {
            "features": [2, 1, 0],
            "auc": [0.6, 0.81, 0.9],
            "low": [0.55, 0.78, 0.8],
            "high": [0.65, 0.84, 0.95],
            "group": ["", "", ""],
        },
        index=["Concept 1", "Concept 2", "Concept 3"],
    )
    said = guess_in_words(frame)
    assert "Concept 2 alone tells the groups apart (AUC 0.81 [0.78, 0.84]" in said
    assert "its concepts give it away" in said
    assert "tells the groups apart a little (AUC" in guess_in_words(frame.assign(auc=0.58))
    assert "only by chance" in guess_in_words(frame.assign(low=0.4))
    assert "“Black” from the others" in guess_in_words(frame.assign(group="Black"))
    assert guess_in_words(frame.assign(features=0)) == ""
