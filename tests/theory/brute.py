"""Brute force and small crowds for it: everything that can be done, written out."""

from functools import reduce
from itertools import product

import numpy as np
from hypothesis import strategies as st

from commod.models.rescaler import ACTS_ON

BITS = st.integers(0, 1)
WHOM = st.sampled_from(ACTS_ON)


@st.composite
def two_groups(draw, most=9):
    """Decisions and groups of a few people, both groups present."""
    s = np.array([0, 1, *draw(st.lists(BITS, max_size=most - 2))])
    return np.array(draw(st.lists(BITS, min_size=len(s), max_size=len(s)))), s


@st.composite
def four_cells(draw, most=9):
    """Labels, decisions and groups of a few people, both labels present in both groups."""
    cells = np.array([0, 1, 2, 3, *draw(st.lists(st.integers(0, 3), max_size=most - 4))])
    decisions = np.array(draw(st.lists(BITS, min_size=len(cells), max_size=len(cells))))
    return cells % 2, decisions, cells // 2


@st.composite
def several_groups(draw, most=10):
    """Labels, decisions and groups of a few people, three or four groups, both labels present in each."""
    groups = draw(st.sampled_from([3, 4]))
    cells = np.array([*range(2 * groups), *draw(st.lists(st.integers(0, 2 * groups - 1), max_size=most - 2 * groups))])
    decisions = np.array(draw(st.lists(BITS, min_size=len(cells), max_size=len(cells))))
    return cells % 2, decisions, cells // 2


@st.composite
def sizes_and_positives(draw, low=1, high=20, groups=2):
    """Of groups: how many they are, and how many of them are decided positively."""
    sizes = draw(st.tuples(*[st.integers(low, high)] * groups))
    return sizes, tuple(draw(st.integers(0, n)) for n in sizes)


def crowd(counts):
    """Labels, decisions and groups of counts by (group, label, decision)."""
    counts = np.asarray(counts)
    s, y, d = (np.repeat(values.ravel(), counts.ravel()) for values in np.indices(counts.shape))
    return y, d, s


def of_rates(sizes, positives):
    """Decisions and groups of groups of these sizes."""
    d = np.concatenate([np.arange(n) < p for n, p in zip(sizes, positives, strict=True)]).astype(int)
    return d, np.repeat(np.arange(len(sizes)), sizes)


def all_decisions(n):
    """Whatever can be decided about n people, (2^n, n)."""
    return np.array(list(product((0, 1), repeat=n)))


def reachable(decisions, acts_on):
    """Of all that can be decided, what differs from `decisions` only where they may be flipped."""
    tried = all_decisions(len(decisions))
    kept = {"everybody": tried >= 0, "negative": tried >= decisions, "positive": tried <= decisions}[acts_on]
    return tried[kept.all(axis=1)]


def ratio(*rates):
    """Smallest over largest of rates; 1 where all are 0."""
    smallest, largest = reduce(np.minimum, rates), reduce(np.maximum, rates)
    return np.where(largest > 0, smallest / np.where(largest > 0, largest, 1), 1.0)


def apart(*rates):
    """Largest less smallest of rates."""
    return reduce(np.maximum, rates) - reduce(np.minimum, rates)


def p_rules(decisions, s):
    """Of each row of decisions."""
    return ratio(*(decisions[:, s == group].mean(axis=1) for group in np.unique(s)))


def mistreatments(decisions, y, s):
    """Of each row of decisions."""
    return sum(
        apart(*(decisions[:, (s == group) & (y == label)].mean(axis=1) for group in np.unique(s))) for label in (0, 1)
    )


def moved(decisions, net_of_cell, cells):
    """Decisions after a net change of each cell, the first people of it whose decision is the other one."""
    g = decisions.copy()
    for cell, net in net_of_cell.items():
        before = int(net < 0)
        candidates = np.flatnonzero((cells == cell) & (decisions == before))
        assert abs(net) <= len(candidates), "there is nobody left to flip"
        g[candidates[: abs(net)]] = 1 - before
    return g


def risks(world, rules, *, lambda_fair, lambda_ratio, fairness, tau=1.0):
    """Risk of each column of rules (kinds, rules), from the definitions: sums over P(x)·P(s, y | x), term by term.

    CS(D, ½) − λ_fair·CS_bal(D̄, c̄) + λ_ratio·P(Ŷ ≠ Ŷ^f), where CS(D, c) = (1 − c)·P(Ŷ = 0, Y = 1) + c·P(Ŷ = 1, Y = 0),
    CS_bal has the conditional probabilities and the favoured group in the place of Y = 1, and c̄ = 1/(1 + τ).
    """
    kinds = range(len(world.share))
    p = {(x, s, y): world.share[x] * world.joint[x, s, y] for x in kinds for s in (0, 1) for y in (0, 1)}
    conditions = [(0, 1)] if fairness == "demographic_parity" else [(0,), (1,)]

    def rate(rule, group, labels):
        members = sum(p[x, group, y] for x in kinds for y in labels)
        return sum(p[x, group, y] * rule[x] for x in kinds for y in labels) / members

    total = 0.0
    for x in kinds:
        for s in (0, 1):
            total = total + 0.5 * p[x, s, 1] * (1 - rules[x]) + 0.5 * p[x, s, 0] * rules[x]
            for y in (0, 1):
                total = total + lambda_ratio * p[x, s, y] * np.abs(rules[x] - world.decided[x])
    cost = 1 / (1 + tau)
    for labels in conditions:
        favoured = int(rate(world.decided, 1, labels) > rate(world.decided, 0, labels))
        negative_favoured = 1 - rate(rules, favoured, labels)
        positive_other = rate(rules, 1 - favoured, labels)
        total = total - lambda_fair * ((1 - cost) * negative_favoured + cost * positive_other)
    return total


def gains_of_one(world, **setting):
    """What deciding 1 rather than 0 takes off the risk, for each kind and in units of its share, (kinds,)."""
    kinds = len(world.share)
    none, one = np.zeros((kinds, 1)), np.eye(kinds)
    return (risks(world, none, **setting) - risks(world, one, **setting)) / world.share
