"""How often do 95 % intervals hold the truth? As in docs/results.md: ``python -m tests.benchmarks.coverage``.

Samples are drawn from populations that are known, so many people of each group, and the intervals of
`compare_decisions` are held against the population's own figures; beside them the percentile bootstrap on the same
samples. First of two groups, then of many (`--groups`), where the pair that is furthest apart is not known before.
"""

import argparse

import numpy as np

from commod.metrics.counts import MIN_GROUP
from commod.metrics.figures import figures_of_counts
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
    shares = np.zeros((len(base_rates), 2, 2, 2))
    for s, y in np.ndindex(len(base_rates), 2):
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


def many_groups(groups):
    """Populations of so many groups by name: where the extremes lie, and whether one pair is or all may be extreme."""
    level, spread = np.full(groups, 0.4), np.linspace(0.0, 1.0, groups)
    same, unequal = np.tile([0.2, 0.6], (groups, 1)), np.stack([0.1 + 0.3 * spread, 0.45 + 0.35 * spread], axis=1)
    one = same.copy()
    one[0] = 0.1, 0.4
    few = np.full(groups, 0.05)
    return {
        "all rates are equal": population(level, same, few, few),
        "rates are spread": population(0.3 + 0.2 * spread, unequal, few, few),
        "one group is apart": population(level, one, few, few),
        "f is spread, g nearly fair": population(level, unequal, 0.25 - 0.25 * spread, 0.35 * spread),
    }


def sizes(groups, one):
    """300 or 1,000 people of each group; with `one`, only so many of the first."""
    return np.r_[one, np.full(groups - 1, 1000)] if one else np.full(groups, 300)


def sample(shares, people, rng):
    """Counts of so many people of each group."""
    each = np.broadcast_to(people, len(shares))
    drawn = [rng.multinomial(size, group.ravel()) for size, group in zip(each, shares, strict=True)]
    return np.array(drawn, dtype=float).reshape(shares.shape)


def figures(counts):
    """Of f, of g, and their difference, by name; over any leading axes."""
    rows = all_compared(counts)
    f, g = figures_of_counts(counts.sum(axis=-1), rows), figures_of_counts(counts.sum(axis=-2), rows)
    return {
        "g": g | figures_of_counts(counts, rows, of_change=True),
        "difference": {name: g[name] - f[name] for name in g},
    }


def all_compared(counts):
    """Rows of the groups that leave nobody out: what is measured is the interval, not the rule for small groups."""
    return np.full(counts.shape[-4], MIN_GROUP)


def ours(counts, seed):
    frame = compare_counts(counts, rows=all_compared(counts), seed=seed)
    return {
        (name, column): (frame.at[name, f"{column}_low"], frame.at[name, f"{column}_high"])
        for name, column in COVERED.values()
        if name in frame.index
    }


def percentile(counts, seed):
    """The bootstrap as it is mostly done: rows drawn with replacement within group and label, percentiles."""
    rng = np.random.default_rng(seed)
    drawn = np.zeros((1000, *counts.shape))
    for s, y in np.ndindex(*counts.shape[:2]):
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
    each = np.broadcast_to(people, len(shares))
    truth, rng = figures(shares * each[:, None, None, None]), np.random.default_rng(each[0])
    held, empty = {key: [] for key in COVERED.values()}, []
    for seed in range(repeats):
        for (name, column), (low, high) in interval(sample(shares, people, rng), seed).items():
            held[name, column].append(low - 1e-12 <= truth[column][name] <= high + 1e-12)
            empty.append(low == high)
    return {title: float(np.mean(held[key])) for title, key in COVERED.items()}, float(np.mean(empty))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000, help="samples for each line")
    parser.add_argument("--groups", type=int, nargs="*", default=[], help="many groups: how many, for example 3 6 10")
    options = parser.parse_args()
    covered = [name for name in COVERED if not options.groups or name.startswith(("P-Rule", "Mistreatment"))]
    headings = [*(["Groups"] if options.groups else []), "", "People of each group", *covered, "Intervals of no width"]
    print(f"| {' | '.join(headings)} |\n|{'---|' * len(headings)}")
    for start, shares, people in lines(options.groups):
        before, none = coverage(shares, people, options.repeats, percentile)
        now, none_now = coverage(shares, people, options.repeats, ours)
        cells = [f"{before[name]:.1%} → {now[name]:.1%}" for name in covered]
        print(f"| {start} | {' | '.join(cells)} | {none:.1%} → {none_now:.1%} |", flush=True)


def lines(many):
    """Of the table: how it starts, the population and the people of each group."""
    if not many:
        for title, shares in POPULATIONS.items():
            yield from ((f"{title} | {people:,}", shares, people) for people in SIZES)
    for groups in many:
        for title, shares in many_groups(groups).items():
            yield f"{groups} | {title} | 300", shares, sizes(groups, None)
            yield f"{groups} | {title} | 1,000, one of 60", shares, sizes(groups, 60)


if __name__ == "__main__":
    main()
