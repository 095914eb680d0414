"""Outcome, favourable value and sensitive attribute, guessed of tables in the likeness of public ones."""

import pytest

from commod.datasets import guess_columns, read_table, roles
from tests.datasets.likenesses import SEEN, UNSEEN


def guessed(likeness):
    """What the page proposes for the file."""
    table = read_table(likeness.table().to_csv(index=False).encode()).frame
    guesses = guess_columns(table)
    target = roles.guess_target(guesses)
    cut = roles.guess_cut(table[target]) if roles.is_cut(target, guesses) else None
    good = roles.guess_favourable(roles.values_of(table[target], cut), target, list(table.columns))
    return target, good, roles.guess_sensitive(guesses, (target,))


def rates(tables):
    """Shares of right outcomes, of right favourable values where the outcome is, and of right sensitive attributes."""
    found = {name: guessed(likeness) for name, likeness in tables.items()}
    right = [name for name, (target, _, _) in found.items() if target == tables[name].target]
    good = [name for name in right if found[name][1].startswith(tables[name].good)]
    fair = [name for name, (_, _, sensitive) in found.items() if sensitive in tables[name].sensitive]
    for name in tables:
        if name not in good or (name not in fair and tables[name].sensitive):
            print(name, found[name])
    return len(right) / len(found), len(good) / max(len(right), 1), len(fair) / sum(bool(likeness.sensitive) for likeness in tables.values())


if __name__ == "__main__":
    for tables in (SEEN, UNSEEN):
        print(len(tables), rates(tables))
