"""A later batch: intervals of differences hold 0 as often as they say, a shift is seen, and what lacks is told."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm

from commod.datasets import Choice, add_task, make_task
from commod.datasets.example import example_table
from commod.datasets.from_file import task_of_file
from commod.decisions import Requirements
from commod.experiments import prepare
from commod.metrics import change_table
from commod.metrics.counts import wilson_interval
from commod.models import Commod
from commod.models.base_models import GIVEN_SCORES
from commod.monitoring import (
    batch_of,
    check_then_and_now,
    difference_of,
    headline,
    read_model,
    stability_index,
    watch,
)
from commod.monitoring.figures import compare_figures, framed
from commod.monitoring.outcome import drift_in_words, far_beyond_chance, moved_in_words, rows_left_out_in_words
from commod.monitoring.reference import DRIFTED, Cells, labels_in, reference_of
from tests.fitting import Case, fit
from tests.monitoring.conftest import text_of, watching


def test_figures_are_those_of_both_halves_and_nothing_is_trained(law):
    found = watch(law.model, law.batch)
    new = law.new
    assert (found.people, found.old_people, found.left_out) == (len(new), len(law.old), {})
    assert found.labelled
    assert found.groups == {name: int((new.sensitive == i).sum()) for i, name in enumerate(law.scene.task.groups)}
    rows = found.figures.set_index(["figure", "model"])
    decided, before = law.g.predict(new.X), (law.scene.margin_of_f(new.X) > 0).astype(int)
    assert rows.loc[("accuracy", "g"), "new"] == pytest.approx((decided == new.y).mean())
    assert rows.loc[("decided", "f"), "new"] == pytest.approx(before.mean())
    assert rows.loc[("change_rate", "change"), "new"] == pytest.approx((decided != before).mean())
    assert rows.loc[("right", "change"), "new"] == pytest.approx((decided == new.y)[decided != before].mean())
    assert {"p_rule", "dm", "positive_rate_0", "change_rate_1", "sure"} <= set(found.figures["figure"])
    assert found.figures["moved"].mean() < 0.25
    assert set(found.drift["drift"]) == {"stable"}
    assert set(found.drift["kind"]) == {"column", "score"}
    assert (found.figures["low"] <= found.figures["difference"]).all()


def verdicts(found, **asked):
    return check_then_and_now(Requirements(**asked), found.old_facts, found.facts)["verdict"].tolist()


def test_without_labels_what_needs_none_is_told(law):
    bare = watch(law.model, law.batch.drop(columns="pass_bar"))
    assert not bare.labelled
    assert not {"accuracy", "dm", "right"} & set(bare.figures["figure"])
    whole = watch(law.model, law.batch).figures.set_index(["figure", "model"])
    for row in bare.figures.set_index(["figure", "model"])[["old", "new"]].itertuples():
        assert tuple(row[1:]) == pytest.approx(tuple(whole.loc[row.Index, ["old", "new"]]))
    assert verdicts(bare, dm=0.2, changed=0.5, again=0.5) == ["cannot tell", "pass", "does not apply"]
    assert "P-Rule" in headline(bare)


def test_without_groups_nothing_is_said_of_fairness(law):
    blind = watch(law.model, law.batch.drop(columns="race"))
    assert not blind.groups
    whole = watch(law.model, law.batch).figures.set_index(["figure", "model"])
    told = blind.figures.set_index(["figure", "model"])
    names = "decided accuracy change_rate raised_rate lowered_rate backward_trust backward_error sure right"
    assert set(told.index.get_level_values(0)) == set(names.split())
    columns = ["old", "old_low", "new", "new_high", "low", "high"]
    np.testing.assert_allclose(told[columns], whole.loc[told.index, columns])
    assert verdicts(blind, p_rule=0.1, dm=1.9, changed=0.5, accuracy_lost=0.5) == [
        "cannot tell",
        "cannot tell",
        "pass",
        "pass",
    ]
    assert any("race" in notice for notice in blind.notices)
    assert "the share of changed decisions" in headline(blind)
    odd = watch(law.model, law.batch.assign(race="elf"))
    assert not odd.groups
    assert any("names a group that the model knows" in notice for notice in odd.notices)


def test_a_batch_of_one_group_only(law):
    batch = law.batch[law.batch["race"] == "White"]
    found = watch(law.model, batch)
    assert found.people == len(batch)
    assert not found.groups
    assert not {"p_rule", "dm", "positive_rate_1", "change_disparity"} & set(found.figures["figure"])
    assert verdicts(found, p_rule=0.1, changed=0.5) == ["cannot tell", "pass"]
    assert "Everyone counted is of one group, “White”" in found.notices[0]
    assert "the share of changed decisions" in headline(found)


def test_a_shifted_batch_is_seen(law):
    found = watch(law.model, law.batch.assign(lsat=law.batch["lsat"] - 8))
    drift = found.drift.set_index("column")
    assert drift.loc["lsat", "drift"] == "shifted"
    assert drift.loc["ugpa", "drift"] == "stable"
    assert drift.loc["The score of f", "drift"] == "look"
    assert "% are at most" in drift.loc["lsat", "sentence"]
    moved = found.figures[found.figures["moved"]].set_index(["figure", "model"])
    assert ("positive_rate_1", "f") in moved.index
    assert "figures moved more than chance explains" in moved_in_words(found)


def test_a_level_that_nobody_had_is_named(law):
    batch = law.batch
    batch["tier"] = batch["tier"].astype(object)
    batch.loc[batch.index[:30], "tier"] = "cluster 77"
    whole = watch(law.model, batch)
    assert "In “School cluster” 30 people have values that nobody had when the model was tested." in drift_in_words(
        whole
    )
    found = whole.drift.set_index("column").loc["tier"]
    assert found["unseen"] == 30
    assert "30 people have values that nobody had before: “cluster 77”." in found["sentence"]


def test_columns_in_any_order_and_others_beside_them(law):
    plain = watch(law.model, law.batch)
    turned = watch(law.model, law.batch.iloc[:, ::-1].assign(moon="full"))
    pd.testing.assert_frame_equal(plain.figures, turned.figures)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda batch: batch.drop(columns="lsat"), "no column “lsat”, which the model needs: add it"),
        (lambda batch: batch[["race", "pass_bar", "lsat"]], "no columns “"),
        (lambda batch: batch.head(0), "The batch has no rows"),
        (lambda batch: batch.head(1), "1 row of 1 can be counted; at least 20 are needed"),
        (lambda batch: batch.assign(lsat="high"), "0 rows of 688 can be counted.*no value of “lsat”"),
    ],
)
def test_what_cannot_be_watched_gets_a_sentence(law, spoil, said):
    with pytest.raises(ValueError, match=said):
        watch(law.model, spoil(law.batch))


def test_rows_that_lack_something_are_left_out_and_counted(law):
    batch = law.batch.astype({"race": object, "pass_bar": object, "lsat": object})
    rows = batch.index
    batch.loc[rows[:3], "race"] = "elf"
    batch.loc[rows[3:5], "pass_bar"] = "perhaps"
    batch.loc[rows[5:9], "lsat"] = "?"
    found = watch(law.model, batch)
    assert found.left_out == {"no value of “lsat”": 4, "group not known": 3, "label not known": 2}
    assert found.people == len(batch) - 9
    assert "4 (no value of “lsat”)" in rows_left_out_in_words(found)
    rest = watch(law.model, law.batch.iloc[9:])
    pd.testing.assert_frame_equal(found.figures, rest.figures)


@pytest.mark.slow
def test_crossings_and_unfavourable_outcomes():
    for name in ("german.age_sex", "compas.age"):
        case = watching(name, lambda_fair=2.0)
        found = watch(case.model, case.batch)
        assert (found.people, found.left_out) == (len(case.new), {})
        before = (case.scene.margin_of_f(case.new.X) > 0).astype(int)
        table = change_table(before, case.g.predict(case.new.X), sensitive_features=case.new.sensitive)
        assert list(found.groups.values()) == table["count"].tolist()
        better = "raised" if case.scene.task.spec.favourable else "lowered"
        assert found.facts.better == table[better].sum()


# ---- a table that somebody brought ----


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A table with weights, and the model of it."""
    path = tmp_path_factory.mktemp("own") / "applicants.csv"
    table = example_table()
    table["stands_for"] = np.random.default_rng(0).integers(1, 5, len(table))
    table.to_csv(path, index=False)
    options = {"target": "hired", "favourable": "yes", "sensitive": "group", "weight": "stands_for"}
    task, _ = task_of_file(path, options)
    add_task(task)
    scene = prepare(task.name)
    g = fit(Case(task, scene.train, scene.test, scene.f), lambda_fair=1.0)
    return scene, g, pd.read_csv(path)


def test_several_values_of_the_outcome_can_be_positive():
    table = example_table(600)
    table["hired"] = np.where(table["hired"] == "no", "no", np.where(table.index % 2 == 0, "yes", "later"))
    table["hired"] = table["hired"].where(table.index % 11 != 0, "withdrawn")
    kinds = {"experience_years": "number", "city": "category"}
    task = make_task(table, Choice("hired", ("yes", "later"), "group", ("A", "B"), kinds)).task
    _, test = task.split()
    reference = reference_of(task, test, *np.random.default_rng(0).normal(size=(2, len(test))))
    assert reference["label"]["positive"] == ["yes", "later"]
    np.testing.assert_array_equal(labels_in(reference, table.loc[test.X.index]), test.y)
    np.testing.assert_array_equal(labels_in(reference, batch_of(task, test)), test.y)


def test_a_model_that_counts_decisions_reads_raw_cells(own):
    scene, _, table = own
    g = fit(Case(scene.task, scene.train, scene.test, scene.f), lambda_fair=1.0, update="decisions")
    batch = table.loc[scene.test.X.index]
    assert batch["test_score"].isna().any()
    found = watch(read_model(text_of(scene, g, scene.test).encode()), batch)
    assert found.people == len(scene.test)
    np.testing.assert_allclose(found.figures["difference"], 0, atol=1e-9)


def test_the_same_people_do_not_differ_and_weights_count(own):
    scene, g, table = own
    model = read_model(text_of(scene, g, scene.test).encode())
    found = watch(model, table.loc[scene.test.X.index])
    assert found.people == len(scene.test)
    np.testing.assert_allclose(found.figures["difference"], 0, atol=1e-9)
    assert not found.figures["moved"].any()
    row = found.figures.set_index(["figure", "model"]).loc[("accuracy", "g")]
    right = (g.predict(scene.test.X) == scene.test.y).to_numpy()
    assert row["new"] == pytest.approx(np.average(right, weights=scene.test.weight))
    bare = watch(model, table.loc[scene.test.X.index].drop(columns="stands_for"))
    assert bare.figures.set_index(["figure", "model"]).loc[("accuracy", "g"), "new"] == pytest.approx(right.mean())
    assert any("each counts as one" in notice for notice in bare.notices)


def test_rows_of_a_task_as_a_file_has_them(own):
    scene, g, table = own
    model = read_model(text_of(scene, g, scene.test).encode())
    of_file, of_task = (
        watch(model, batch) for batch in (table.loc[scene.test.X.index], batch_of(scene.task, scene.test))
    )
    pd.testing.assert_frame_equal(of_file.figures, of_task.figures)


def test_scores_of_the_other_outcome_out_of_100(tmp_path):
    """What is read by a rule is divided and turned once, and written back as it was."""
    path, table = tmp_path / "scored.csv", example_table(900)
    table["model_score"] = 100 * (1 - table["model_score"])
    table.to_csv(path, index=False)
    options = {"target": "hired", "favourable": "yes", "sensitive": "group", "scores": "model_score"}
    task, _ = task_of_file(path, {**options, "scores_out_of": 100.0, "turned": True})
    add_task(task)
    scene = prepare(task.name, GIVEN_SCORES)
    g = Commod(scene.f, lambda_fair=1.0).fit(**scene.train.fit_arguments)
    model = read_model(text_of(scene, g, scene.test).encode())
    for batch in (pd.read_csv(path).loc[scene.test.X.index], batch_of(scene.task, scene.test)):
        found = watch(model, batch)
        assert found.people == len(scene.test)
        np.testing.assert_allclose(found.figures["difference"], 0, atol=1e-9)
        assert found.drift.set_index("column").loc["The score of f", "index"] == pytest.approx(0, abs=1e-9)


# ---- intervals ----


def compared(*drawn):
    """Everything that is compared, for two arrays of counts (groups, label, f, g)."""
    old, new = (Cells(counts, counts, counts) for counts in drawn)
    names = {"groups": ["a", "b"], "outcomes": ["no", "yes"]}
    return framed(compare_figures(names, old, new, labelled=True, grouped=True)).set_index(["figure", "model"])


def draw(rng, *populations):
    """900 people of the first population, 500 of the second."""
    sizes = (900, 500)
    return [rng.multinomial(n, p).reshape(2, 2, 2, 2).astype(float) for n, p in zip(sizes, populations, strict=True)]


# Too wide rather than too narrow: a sum of absolute gaps that is near 0 cannot fall below it, and a share of the few
# whose decision changed has Wilson's interval of few people.
WIDE = r"dm|delta_tpr|delta_fpr|right"


@pytest.mark.slow
@pytest.mark.parametrize("moved", [False, True])
def test_intervals_hold_the_true_difference_as_often_as_they_say(moved):
    """Two samples of one population, and of two, 1,000 times: each interval of 95 % misses in 5 of 100.

    The bounds are those of the binomial distribution with 1,000 trials at 5 %, which all intervals together leave by
    chance in one case of twenty (Bonferroni): 30 and 73 misses for 30 of them. Those in `WIDE` have the upper one only.
    """
    rng, repeats = np.random.default_rng(0), 1000
    same = rng.dirichlet(np.full(16, 2.0))
    other = 0.6 * same + 0.4 * rng.dirichlet(np.full(16, 2.0)) if moved else same
    truth = compared(*(1e9 * population.reshape(2, 2, 2, 2) for population in (same, other)))["difference"]
    assert (np.abs(truth).max() > 0.1) == moved
    missed = pd.Series(0, index=truth.index)
    beyond = 0
    for _ in range(repeats):
        found = compared(*draw(rng, same, other))
        missed += ((found["low"] > truth) | (found["high"] < truth)).astype(int)
        beyond += far_beyond_chance(found).any()
    assert len(missed) == 30
    least, most = binom.ppf([0.025 / len(missed), 1 - 0.025 / len(missed)], repeats, 0.05)
    assert missed.max() <= most, missed.sort_values().tail()
    exact = missed[~missed.index.get_level_values("figure").str.match(WIDE)]
    assert len(exact) > 20
    assert exact.min() >= least, exact.sort_values().head()
    if not moved:  # one of all of them is called far beyond chance in at most 5 of 100
        assert beyond <= binom.ppf(0.999, repeats, 0.05)


def test_two_populations_are_told_apart():
    """Shares of everyone are called moved as often as the power of a two-sided test of two shares says.

    Power Φ(|d| / s − 1.96), with s² = p (1 − p) / 900 + q (1 − q) / 500, of each; the count over all draws stays within
    what the binomial distribution allows in 999 of 1,000 cases, with 0.1 for the normal approximation.
    """
    rng, repeats = np.random.default_rng(0), 20
    same, other = rng.dirichlet(np.full(16, 2.0)), rng.dirichlet(np.full(16, 2.0))
    shares = {
        ("decided", "f"): lambda counts: counts[..., 1, :],
        ("decided", "g"): lambda counts: counts[..., 1],
        ("accuracy", "f"): lambda counts: np.stack([counts[:, label, label] for label in (0, 1)]),
        ("accuracy", "g"): lambda counts: np.stack([counts[:, label, :, label] for label in (0, 1)]),
        ("raised_rate", "change"): lambda counts: counts[..., 0, 1],
        ("lowered_rate", "change"): lambda counts: counts[..., 1, 0],
    }
    moved = sum(compared(*draw(rng, same, other))["moved"].astype(int) for _ in range(repeats))
    for key, part in shares.items():
        p, q = (part(population.reshape(2, 2, 2, 2)).sum() for population in (same, other))
        power = norm.cdf(abs(p - q) / np.sqrt(p * (1 - p) / 900 + q * (1 - q) / 500) - 1.96)
        least, most = binom.ppf(0.0005, repeats, max(power - 0.1, 0)), binom.ppf(0.9995, repeats, min(power + 0.1, 1))
        assert least <= moved[key] <= most, (key, power, moved[key])
    assert moved.max() == repeats


def test_newcombes_interval():
    """The first example of Newcombe (1998), 56 of 70 against 48 of 80: 0.0524 to 0.3339."""
    ends = [tuple(map(float, wilson_interval(part, whole))) for part, whole in ((48, 80), (56, 70))]
    difference, low, high = difference_of(48 / 80, ends[0], 56 / 70, ends[1])
    assert (difference, low, high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


def test_stability_by_chance_and_by_drift():
    rng, repeats = np.random.default_rng(0), 1000
    share = np.full(10, 0.1)
    drawn = [stability_index(rng.multinomial(1000, share), rng.multinomial(200, share)) for _ in range(repeats)]
    beyond = sum(index > chance for index, chance in drawn)
    assert binom.ppf(0.001, repeats, 0.04) <= beyond <= binom.ppf(0.999, repeats, 0.06)
    assert stability_index([100] * 10, [10, 10, 10, 10, 10, 90, 90, 90, 90, 90])[0] > DRIFTED


def test_a_batch_of_people_who_are_known_is_told(law):
    known = watch(law.model, law.batch, known=law.batch)
    assert "hardly new people" in known.notices[0]
    assert not watch(law.model, law.batch, known=law.batch.assign(lsat=0.0)).notices
