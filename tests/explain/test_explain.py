import numpy as np
import pandas as pd
import pytest

from commod.explain import DEPTHS, explain_concepts, explain_loadings, explain_tree, explain_with_shap
from commod.explain.concepts import _in_words, _sentence, in_a_sentence
from tests.fitting import case, fit


@pytest.fixture(scope="module", params=["law_school", "compas"])
def fitted(request):
    c = case(request.param)
    g = fit(c, lambda_fair=4.0, n_concepts=4, lambda_concepts=0.1)
    return c, g


def decisions(c, g, rows):
    return c.f.predict(rows.X), g.predict(rows.X)


def test_loadings_are_the_concepts_in_readable_form(fitted):
    c, g = fitted
    table = explain_loadings(g, c.task)
    assert len(table) == (g.concepts_ != 0).sum().sum()
    for name, part in table.groupby("concept"):
        assert (part["loading"].abs().diff().dropna() <= 1e-12).all()  # heaviest first
        expected = g.concepts_.loc[part["feature"], name].to_numpy()
        np.testing.assert_array_equal(part["loading"], expected)
    by_feature = table.groupby("feature")["contribution"].sum()
    np.testing.assert_allclose(by_feature, g.coef_[by_feature.index], atol=1e-12)


def test_concept_table_counts_every_row_once(fitted):
    c, g = fitted
    before, after = decisions(c, g, c.test)
    table = explain_concepts(g, c.task, g.concept_activations(c.test.X), before, after)
    assert ((table["activated"] + table["others"]) == len(c.test)).all()
    changed = (before != after).sum()
    total = table["changed_activated"] * table["activated"] + table["changed_others"] * table["others"]
    np.testing.assert_allclose(total.dropna().to_numpy(dtype=float), changed)
    assert (table["raised"] + table["lowered"] <= changed).all()
    for sentence in table["sentence"]:
        assert sentence.startswith(("It takes back f's decision for ", "This concept is empty"))
        assert "other than “”" not in sentence
        assert "nan" not in sentence.lower().split()


def test_the_concepts_of_a_shift_stand_behind_those_of_r():
    c = case("law_school")
    g = fit(c, lambda_fair=4.0, n_concepts=3, lambda_concepts=0.1, update="affine")
    before, after = decisions(c, g, c.test)
    table = explain_concepts(g, c.task, g.concept_activations(c.test.X), before, after)
    assert list(table.index) == [*g.concepts_, *g.shift_concepts_]
    assert table["part"].tolist() == ["r"] * 3 + ["s"] * 3
    np.testing.assert_array_equal(table["weight"], [*g.concept_weights_, *g.shift_weights_])
    for sentence in table.loc[table["part"] == "s", "sentence"]:
        assert sentence.startswith(("It raises the score for “passes the bar” of ", "This concept is empty"))
    loadings = explain_loadings(g, c.task)
    shifts = loadings["concept"].str.endswith(", shift")
    for part, coef in ((loadings[~shifts], g.coef_), (loadings[shifts], g.shift_coef_)):
        by_feature = part.groupby("feature")["contribution"].sum()
        np.testing.assert_allclose(by_feature, coef[by_feature.index], atol=1e-12)
        assert set(by_feature.index) == set(coef.index[coef != 0])


def test_an_empty_concept_says_so():
    c = case("law_school")
    g = fit(c, lambda_fair=0.0)
    before, after = decisions(c, g, c.test)
    table = explain_concepts(g, c.task, g.concept_activations(c.test.X), before, after)
    assert table["sentence"].str.contains("empty").all()
    assert table["changed_activated"].isna().all()
    assert explain_loadings(g, c.task).empty


def tree_of(c, g, depth, **options):
    before, after = decisions(c, g, c.train)
    before_test, after_test = decisions(c, g, c.test)
    changed = before_test != after_test
    return (
        explain_tree(c.task, g.encoder_, c.train.X, before != after, c.test.X, changed, depth, **options),
        changed,
    )


def test_tree_nodes_add_up(fitted):
    tree, changed = tree_of(*fitted, depth=3)
    nodes = tree.nodes.set_index("node")
    assert nodes.loc[0, "count"] == len(changed)
    assert nodes.loc[0, "changed"] == changed.sum()
    for parent, part in tree.nodes[tree.nodes["parent"] >= 0].groupby("parent"):
        assert len(part) == 2
        assert part["count"].sum() == nodes.loc[parent, "count"]
        assert part["changed"].sum() == nodes.loc[parent, "changed"]
    assert tree.nodes["depth"].max() <= 3
    assert tree.f1_by_depth["depth"].tolist() == list(DEPTHS)
    assert tree.f1 == tree.f1_by_depth.set_index("depth").loc[3, "f1"]


def test_f1_is_that_of_the_leaves_that_say_changed(fitted):
    tree, changed = tree_of(*fitted, depth=4)
    said = tree.nodes[tree.nodes["predicts"]]
    hits, calls = said["changed"].sum(), said["count"].sum()
    expected = 0.0 if hits == 0 else 2 * hits / (calls + changed.sum())
    assert tree.f1 == pytest.approx(expected)


def test_a_weighted_tree_calls_no_fewer_people_changed(fitted):
    plain, changed = tree_of(*fitted, depth=1)
    weighted, _ = tree_of(*fitted, depth=1, class_weight="balanced")
    called = [tree.nodes.loc[tree.nodes["predicts"], "count"].sum() for tree in (plain, weighted)]
    assert called[0] <= called[1]
    found = [tree.nodes.loc[tree.nodes["predicts"], "changed"].sum() for tree in (plain, weighted)]
    assert found[0] <= found[1]
    assert 0 < found[1] <= changed.sum()


def test_changes_of_compas_are_easy_to_say():
    c = case("compas")
    tree, _ = tree_of(c, fit(c, lambda_fair=4.0, lambda_concepts=0.2), depth=4)
    assert tree.f1 >= 0.9


def test_rules_are_in_original_units():
    c = case("compas")
    tree, _ = tree_of(c, fit(c, lambda_fair=4.0, lambda_concepts=0.2), depth=3)
    rules = " ".join(tree.nodes["rule"])
    assert "Charge is Driving Under The Influence" in rules
    assert "years" in rules  # Age ≤ 39 years, not a standardised number
    with pytest.raises(ValueError, match="depth must be a whole number from 1 to 6"):
        tree_of(c, fit(c), depth=7)


def test_no_change_gives_a_single_leaf():
    c = case("law_school")
    tree, _ = tree_of(c, fit(c, lambda_fair=0.0), depth=3)
    assert len(tree.nodes) == 1
    assert tree.f1 == 0.0


@pytest.mark.parametrize("base_model", ["logistic_regression", pytest.param("random_forest", marks=pytest.mark.slow)])
def test_shap_adds_up_beside_commod(base_model):
    c = case("law_school", base_model=base_model)
    g = fit(c, lambda_fair=4.0)
    seen = []
    result = explain_with_shap(g, c.task, c.test.X, n_rows=12, n_background=10, redraws=2, callback=seen.append)
    assert set(result.features.index) == set(c.test.X.columns)
    assert (result.features["shap_low"] <= result.features["shap"] + 1e-12).all()
    assert (result.features["shap"] <= result.features["shap_high"] + 1e-12).all()
    assert -1 <= result.agreement <= 1
    assert 0 <= result.top_kept <= 1
    assert result.features["commod"].is_monotonic_decreasing
    assert seen == sorted(seen)
    again = explain_with_shap(g, c.task, c.test.X, n_rows=12, n_background=10, redraws=2)
    pd.testing.assert_frame_equal(result.features, again.features)


def test_shap_by_look_up_is_shap_by_frame():
    """The fast path for our own pipelines against the general one: f hidden behind a function."""
    from commod import Commod

    c = case("law_school")
    fast = fit(c, lambda_fair=4.0)
    general = Commod(c.f.predict_proba, lambda_fair=4.0).fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive)
    results = [
        explain_with_shap(g, c.task, c.test.X, n_rows=6, n_background=8, redraws=1).features for g in (fast, general)
    ]
    pd.testing.assert_frame_equal(*results, rtol=1e-9)


def test_shap_can_be_ended_from_outside():
    c = case("law_school")

    def enough(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explain_with_shap(fit(c), c.task, c.test.X, callback=enough)


def test_levels_of_one_feature_are_alternatives():
    rows = [("School: A", True, 0.6), ("LSAT score", False, -0.5), ("School: B", True, 0.4)]
    loadings = pd.DataFrame(rows, columns=["label", "is_level", "loading"])
    said = _sentence({"part": "r", "activated": 0}, loadings, case("law_school").task)
    assert said.endswith("students with school “A” or “B” and low LSAT score.")


def test_labels_of_ours_begin_small_in_a_sentence_and_names_of_others_stay():
    assert [in_a_sentence(label) for label in ("Prior offences", "LSAT score")] == ["prior offences", "LSAT score"]
    assert in_a_sentence("Income", "Income") == "Income"
    columns = ("Income", "Race")
    assert _in_words("Income", False, 1.0, columns) == "high Income"
    assert _in_words("Race: Not Caucasian", True, 1.0, columns) == "Race “Not Caucasian”"
    assert _in_words("Prior offences", False, -1.0, columns) == "low prior offences"
