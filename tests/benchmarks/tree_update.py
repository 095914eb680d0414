"""A tree as the update, beside the linear rule: ``python -m tests.benchmarks.tree_update``.

A tree of depth 3 on each side of f's cut-off tells the groups apart; of its leaves (16 at most) those are flipped that
bring the training rows nearest to parity with at most so many changes, by trying every set of leaves. The explanation
would then be exact. What it costs: fairness on test at the same number of changes, mean over splits.
"""

import argparse

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from commod import Commod
from commod.experiments import prepare
from commod.metrics.fairness import p_rule_of_rates


def leaves_of(tree, X, offset):
    return np.searchsorted(np.flatnonzero(tree.tree_.children_left < 0), tree.apply(X)) + offset


def tree_rule(scene, depth, most):
    """P-Rule and share changed on test of the best set of leaves."""
    X, s = scene.encoded_train, scene.train.sensitive.to_numpy()
    said, said_test = scene.logit_train > 0, scene.logit_test > 0
    leaf, leaf_test, count = np.zeros(len(s), int), np.zeros(len(said_test), int), 0
    for side in (False, True):
        tree = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=20, random_state=0)
        tree.fit(X[said == side], s[said == side])
        leaf[said == side] = leaves_of(tree, X[said == side], count)
        leaf_test[said_test == side] = leaves_of(tree, scene.encoded_test[said_test == side], count)
        count += tree.get_n_leaves()
    sets = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
    side_of = np.array([said[leaf == j].mean() > 0.5 for j in range(count)])
    people = np.array([[(s[leaf == j] == g).sum() for g in (0, 1)] for j in range(count)])
    moved = np.where(side_of, -1, 1)[:, None] * people
    rates = (np.array([said[s == g].sum() for g in (0, 1)]) + sets @ moved) / np.bincount(s)
    fair = np.where(sets @ people.sum(axis=1) <= most * len(s), p_rule_of_rates(rates), -1.0)
    chosen = sets[fair.argmax()].astype(bool)
    return figures(scene, said_test ^ chosen[leaf_test])


def figures(scene, decided):
    found = scene.figures(decided.astype(int))
    return found["p_rule"], found["change_rate"], found["accuracy"]


def linear_rule(scene, most):
    g = Commod(scene.f, update="decisions", lambda_fair=10.0, lambda_ratio=0.2, lambda_concepts=0.05, max_changes=most)
    g.fit(**scene.train.fit_arguments, base_scores=scene.scores_train)
    return figures(scene, g.rescaler_.score(scene.encoded_test, scene.logit_test) > 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="law_school,compas,adult,german")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--most", type=float, default=0.10, help="the budget, as a share of the training rows")
    arguments = parser.parse_args()
    for data in arguments.data.split(","):
        mean = means(data, arguments.splits, arguments.most)
        for name, (fair, changed, accuracy) in mean.items():
            gain = (fair - mean["f"][0]) / (mean["linear"][0] - mean["f"][0])
            print(
                f"{data:11} {name:16} P-Rule {fair:.3f}, changed {changed:.1%}, accuracy {accuracy:.3f}, "
                f"{gain:.0%} of the linear rule's gain",
                flush=True,
            )


def means(data, splits, most):
    """P-Rule, share changed and accuracy on test, by rule."""
    rows = {"f": [], "linear": [], "tree of depth 2": [], "tree of depth 3": []}
    for seed in range(splits):
        scene = prepare(data, seed=seed)
        rows["f"].append(figures(scene, scene.logit_test > 0))
        rows["linear"].append(linear_rule(scene, most))
        for depth in (2, 3):
            rows[f"tree of depth {depth}"].append(tree_rule(scene, depth, most))
    return {name: np.mean(found, axis=0) for name, found in rows.items()}


if __name__ == "__main__":
    main()
