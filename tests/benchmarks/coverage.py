"""How often do 95 % intervals hold the truth? As in docs/methods.md: ``python -m tests.benchmarks.coverage``.

Samples are drawn from populations that are known, so many people of each of two groups, and the intervals of
`compare_decisions` are held against the population's own figures; beside them the percentile bootstrap on the same
samples.
"""

import argparse

import numpy as np

from commod.metrics.figures import figures_of_changes, figures_of_counts
from commod.metrics.report import compare_counts

SIZES = (30, 100, 300, 1000)
# What is covered: a row of `compare_decisions`, and of which model.
COVERED = {
    "Changed": ("change_rate", "g"),
    "Positive rate": ("positive_rate_0", "g"),
    "P-Rule": ("p_rule", "g"),
    "P-Rule, difference": ("p_rule", "difference"),
    "Mistreatment": ("dm", "g"),
    "Mistreatment, difference": ("dm", "difference"),
}


def population(base_rates, rates_of_f, raised, lowered):
    """Shares (group, label, f, g) that are 1 within each group.

    `base_rates` are P(y = 1) by group, `rates_of_f` P(f = 1) by group and label, `raised` and `lowered` P(g ≠ f) by
    group where f is 0 and where it is 1.
    """
    shares = np.zeros((2, 2, 2, 2))
    for s, y in np.ndindex(2, 2):
        positive = rates_of_f[s][y]
        of_f = np.array([1 - positive, positive]) * (base_rates[s] if y else 1 - base_rates[s])
        flips = np.array([raised[s], lowered[s]])
        shares[s, y] = of_f[:, None] * np.array([[1 - flips[0], flips[0]], [flips[1], 1 - flips[1]]])
    return shares


UNFAIR = ((0.2, 0.6), (0.4, 0.8))  # of f: false and true positive rate of either group
POPULATIONS = {
    "g changes 1 % of the decisions": population((0.4, 0.6), UNFAIR, (0.01, 0.01), (0.01, 0.01)),
    "g is nearly fair": population((0.4, 0.6), UNFAIR, (0.25, 0.0), (0.0, 0.1)),
    "few positive decisions": population((0.2, 0.3), ((0.02, 0.2), (0.05, 0.4)), (0.02, 0.0), (0.0, 0.1)),
    "f and g are exactly fair": population((0.4, 0.6), ((0.2, 0.6), (0.2, 0.6)), (0.02, 0.02), (0.02, 0.02)),
}


def sample(shares, people, rng):
    """Counts of so many people of each group."""
    drawn = [rng.multinomial(people, group.ravel()) for group in shares]
    return np.array(drawn, dtype=float).reshape(shares.shape)


def figures(counts):
    """Of f, of g, and their difference, by name; over any leading axes."""
    f, g = figures_of_counts(counts.sum(axis=-1)), figures_of_counts(counts.sum(axis=-2))
    return {"g": g | figures_of_changes(counts), "difference": {name: g[name] - f[name] for name in g}}


def ours(counts, seed):
    frame = compare_counts(counts, seed=seed)
    return {
        (name, column): (frame.at[name, f"{column}_low"], frame.at[name, f"{column}_high"])
        for name, column in COVERED.values()
        if name in frame.index
    }


def percentile(counts, seed):
    """The bootstrap as it is mostly done: rows drawn with replacement within group and label, percentiles."""
    rng = np.random.default_rng(seed)
    drawn = np.zeros((1000, *counts.shape))
    for s, y in np.ndindex(2, 2):
        size = counts[s, y].sum()
        if size:
            cells = rng.multinomial(int(size), counts[s, y].ravel() / size, size=1000)
            drawn[:, s, y] = cells.reshape(1000, 2, 2)
    found = figures(drawn)
    return {
        (name, column): tuple(np.percentile(found[column][name], [2.5, 97.5]))
        for name, column in COVERED.values()
        if name in found[column]
    }


def coverage(shares, people, repeats, interval):
    """Share of samples whose interval holds the truth, by what is covered, and the share of intervals of no width."""
    truth, rng = figures(shares), np.random.default_rng(people)
    held, empty = {key: [] for key in COVERED.values()}, []
    for seed in range(repeats):
        for (name, column), (low, high) in interval(sample(shares, people, rng), seed).items():
            held[name, column].append(low - 1e-12 <= truth[column][name] <= high + 1e-12)
            empty.append(low == high)
    return {title: float(np.mean(held[key])) for title, key in COVERED.items()}, float(np.mean(empty))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000, help="samples for each line")
    repeats = parser.parse_args().repeats
    headings = ["", "People of each group", *COVERED, "Intervals of no width"]
    print(f"| {' | '.join(headings)} |\n|{'---|' * len(headings)}")
    for title, shares in POPULATIONS.items():
        for people in SIZES:
            before, none = coverage(shares, people, repeats, percentile)
            now, none_now = coverage(shares, people, repeats, ours)
            cells = [f"{before[name]:.1%} → {now[name]:.1%}" for name in COVERED]
            print(f"| {title} | {people:,} | {' | '.join(cells)} | {none:.1%} → {none_now:.1%} |", flush=True)


if __name__ == "__main__":
    main()
