"""OxonFair (Delaney et al. 2024): a threshold for each guessed group."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from commod.metrics.figures import CRITERIA
from commod.models.adversary import Array
from commod.models.competitors.base import Rows
from commod.models.competitors.membership import ByMembership

# About how many combinations of thresholds are tried at once.
GRID = 200_000


@dataclass(eq=False, repr=False, kw_only=True)
class OxonFair(ByMembership):
    """Thresholds by the likeliest group, found on a grid that is refined; S is not needed at predict.

    A classifier guesses everybody's group; people it cannot guess share a threshold of their own. The thresholds
    are the most accurate ones for which the *recorded* groups are treated alike up to α, and each gets the favourable
    decision at a rate of at least `least_rate` ("levelling up"); if none does both, the closest.

    The toolkit has many measures. Its parity and odds are means of differences; here the largest counts, as in the
    other methods. It refines its grid around all rules that are optimal for some α, this one around the best.

    Parameters
    ----------
    alpha : float, default 0.05
        Largest difference of the groups' positive rates (under each label, for equalized odds) on the training rows.
    least_rate : float, default 0.0
        Smallest rate of favourable decisions in every group; for equalized odds, among people whose label is
        favourable. With α = 1 it is the only limit.
    favourable : label, optional
        The decision that `least_rate` is about; by default the positive one.
    certainty : float, optional
        Probability from which a guess counts. 0: everybody gets the likeliest group. Default: 4/3 of an even guess, the
        toolkit's 2/3 with two groups; with four groups, hardly any guess is that sure.
    """

    alpha: float = 0.05
    least_rate: float = 0.0
    favourable: Any = None
    certainty: float | None = None

    def _learn(self, rows: Rows, y: Array) -> None:
        assert self.groups_ is not None
        groups = len(self.groups_)
        self.certainty_ = 4 / 3 / groups if self.certainty is None else self.certainty
        for name, share in (("least_rate", self.least_rate), ("certainty", self.certainty_)):
            if share > 1:
                raise ValueError(f"{name} is a share, from 0 to 1, got {share!r}.")
        if self.favourable is not None and self.favourable not in self.classes_:
            raise ValueError(
                f"favourable must be one of the labels in y, {self.classes_.tolist()}, got {self.favourable!r}."
            )
        self._prepare(rows, y)
        guess = self._guess(rows)
        cells = rows.weighed(np.eye(2 * groups)[2 * rows.groups + y.astype(int)])  # (n, recorded group × label)
        found = [_lines(rows.logit[guess == s], cells[guess == s]) for s in range(groups + 1)]
        windows = [(0, len(lines) - 1) for lines, _ in found]
        width = max(3, int(GRID ** (1 / (groups + 1))))
        while True:
            tried = [np.unique(np.linspace(*window, width).round().astype(int)) for window in windows]
            positive = np.zeros(2 * groups)
            for (_, counts), places in zip(found, tried, strict=True):
                positive = positive[..., None, :] + counts[places]  # (tried of each guessed group so far, cells)
            best = self._best(positive.reshape(*positive.shape[:-1], groups, 2), cells.sum(axis=0).reshape(groups, 2))
            if all(np.diff(places, prepend=places[0]).max() <= 1 for places in tried):
                break
            windows = [
                (places[max(at - 1, 0)], places[min(at + 1, len(places) - 1)])
                for places, at in zip(tried, best, strict=True)
            ]
        self.lines_ = np.array([lines[places[at]] for (lines, _), places, at in zip(found, tried, best, strict=True)])

    def _best(self, positive: Array, people: Array) -> tuple[int, ...]:
        """Place on the grid of the most accurate of the rules that break the limits least.

        `positive`: (grid …, groups, labels), how many are decided positively; `people`: (groups, labels), of how many.
        """
        if CRITERIA[self.fairness].by_label:
            rates = positive / people
        else:
            rates = (positive.sum(axis=-1) / people.sum(axis=-1))[..., None]
        gap = np.ptp(rates, axis=-2).max(axis=-1)
        if self.favourable in (None, self.classes_[1]):
            lowest = rates[..., -1].min(axis=-1)
        else:
            lowest = 1.0 - rates[..., 0].max(axis=-1)
        broken = np.maximum(np.maximum(gap - self.alpha, self.least_rate - lowest), 0.0).round(12)
        right = positive.sum(axis=-2) @ [-self.threshold_, 1.0 - self.threshold_]  # errors weighed by f's cut-off
        place = np.where(broken == broken.min(), right, -np.inf).argmax()
        return tuple(int(each) for each in np.unravel_index(place, right.shape))

    def _guess(self, rows: Rows) -> Array:
        """The likeliest group of each row, or the number of groups if it is not likely enough."""
        chance = self._joint(rows).sum(axis=2)
        return np.where(chance.max(axis=1) < self.certainty_, chance.shape[1], chance.argmax(axis=1))

    def _margin(self, rows: Rows) -> Array:
        return rows.logit - self.lines_[self._guess(rows)]


def _lines(logit: Array, cells: Array) -> tuple[Array, Array]:
    """Every line that divides these people in another way, and what lies above each, (lines, cells).

    f's own line stands for all that divide them as it does.
    """
    values, place = np.unique(logit, return_inverse=True)
    between = 0.5 * (values[1:] + values[:-1])
    lines = np.concatenate([values[:1] - 1.0, between, values[-1:] + 1.0]) if len(values) else np.zeros(1)
    lines[np.searchsorted(values, 0.0, side="right")] = 0.0
    of_value = np.zeros((len(values), cells.shape[1]))
    np.add.at(of_value, place, cells)
    above = of_value.sum(axis=0) - np.vstack([np.zeros(cells.shape[1]), of_value.cumsum(axis=0)])
    return lines, above
