"""All figures of a pair (f, g) on one set of rows, with intervals: Wilson's for shares, else the Bayesian bootstrap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from commod.metrics.auc import compare_auc
from commod.metrics.counts import Counts, as_binary, change_counts
from commod.metrics.fairness import Values
from commod.metrics.figures import FIGURES, figure_of, figures_of_changes, figures_of_counts, wholes_of_counts
from commod.metrics.intervals import wilson_interval

__all__ = ["bootstrap_counts", "compare_counts", "compare_decisions"]

N_BOOTSTRAP = 1000
# People added to each of the four cells (Ŷ^f, Ŷ^g) of a stratum: for every rate of one model that is Jeffreys' prior.
PRIOR = 0.25


def bootstrap_counts(counts: Counts, *, n_bootstrap: int = N_BOOTSTRAP, seed: int = 0) -> Counts:
    """Draw counts like these by the Bayesian bootstrap (Rubin 1981) within each stratum (group × label).

    The shares of the four cells (Ŷ^f, Ŷ^g) of a stratum are drawn from the Dirichlet distribution of those counted, and
    `PRIOR` more: what nobody of a few people did is not impossible. The size of a stratum stays what it is, so no draw
    has an empty group.

    Parameters
    ----------
    counts : (groups, 2, 2, 2)

    Returns
    -------
    (n_bootstrap, groups, 2, 2, 2)
    """
    drawn = np.random.default_rng(seed).standard_gamma(counts + PRIOR, size=(n_bootstrap, *counts.shape))
    strata = (-2, -1)
    return np.asarray(drawn * (counts.sum(axis=strata, keepdims=True) / drawn.sum(axis=strata, keepdims=True)))


def compare_decisions(
    y_true: Any,
    predictions_f: Any,
    predictions_g: Any,
    *,
    sensitive_features: Any,
    scores: tuple[Any, Any] | None = None,
    confidence: float = 0.95,
    n_bootstrap: int = N_BOOTSTRAP,
    seed: int = 0,
) -> pd.DataFrame:
    """Figures of f and g on the same rows, their difference, and intervals.

    Parameters
    ----------
    scores : (array, array), optional
        Of f and g: with them, ``auc`` stands behind the accuracy, with DeLong's intervals.

    Returns
    -------
    DataFrame
        One row per figure declared in `commod.metrics.figures`: first those of a model (``accuracy, p_rule, …,
        positive_rate_i`` per group), then those of the change (``change_rate, raised_rate`` (0→1), ``lowered_rate``
        (1→0), ``change_rate_i`` per group, …), whose value for f is that of no change. Columns ``f, g, difference``
        (g − f), each with ``_low`` and ``_high``. ``dm`` and its parts are missing where a group lacks a label.
        Intervals: Wilson's for shares of people, else `n_bootstrap` draws within group × label, both models on the
        same draw.
    """
    counts, _ = change_counts(y_true, predictions_f, predictions_g, sensitive_features)
    frame = compare_counts(counts, confidence=confidence, n_bootstrap=n_bootstrap, seed=seed)
    if scores is None:
        return frame
    frame.loc["auc"] = pd.Series(compare_auc(*scores, as_binary(y_true, "y_true"), confidence))
    return frame.loc[sorted(frame.index, key=_place)]


def _place(row: str) -> tuple[bool, int]:
    """Where a row stands: figures of a model first, in the order of their declaration."""
    figure = figure_of(row)[0]
    return figure.of_change, list(FIGURES).index(figure.name)


def compare_counts(
    counts: Counts, *, confidence: float = 0.95, n_bootstrap: int = N_BOOTSTRAP, seed: int = 0
) -> pd.DataFrame:
    """The same from counts (groups, label, prediction of f, prediction of g)."""
    both = np.concatenate([counts[None], bootstrap_counts(counts, n_bootstrap=n_bootstrap, seed=seed)])
    f, g = figures_of_counts(both.sum(axis=-1)), figures_of_counts(both.sum(axis=-2))
    changes = figures_of_changes(both)
    f |= {name: np.full(len(both), figure_of(name)[0].unchanged) for name in changes}
    g |= changes
    names = list(g)
    before, after = np.array([f[name] for name in names]), np.array([g[name] for name in names])  # (figures, 1 + draws)
    most = np.array([figure_of(name)[0].most for name in names])
    columns: dict[str, np.ndarray] = {}
    for column, values, least in (("f", before, 0.0), ("g", after, 0.0), ("difference", after - before, -1.0)):
        low, high = _of_draws(values, confidence)
        columns[column] = values[:, 0]
        columns[f"{column}_low"], columns[f"{column}_high"] = np.maximum(low, least * most), np.minimum(high, most)
    wholes = {names.index(name): whole for name, whole in wholes_of_counts(counts).items()}
    shares, people = list(wholes), np.array(list(wholes.values()))
    changed = [names.index(name) for name in changes]
    for column in ("f", "g"):
        low, high = wilson_interval(columns[column][shares] * people, people, confidence)
        columns[f"{column}_low"][shares] = np.where(people > 0, low, 0.0)
        columns[f"{column}_high"][shares] = np.where(people > 0, high, 1.0)
    for end in ("low", "high"):  # what f changes of itself is known
        columns[f"f_{end}"][changed] = columns["f"][changed]
        columns[f"difference_{end}"][changed] = columns[f"g_{end}"][changed] - columns["f"][changed]
    return pd.DataFrame(columns, index=pd.Index(names, name="figure"))


def _of_draws(values: Values, confidence: float) -> tuple[Values, Values]:
    """Ends of intervals from (figures, 1 + draws), the figure itself in front.

    Percentiles of the draws, or as many root mean squares of their distance from the figure as a normal distribution
    has, whichever is further out: where a difference of rates is near 0, most draws are larger, as the sample was.
    """
    figures, draws = values[:, 0], values[:, 1:]
    low, high = np.percentile(draws, [50 * (1 - confidence), 50 * (1 + confidence)], axis=1)
    reach = ndtri(0.5 + confidence / 2) * np.sqrt(((draws - figures[:, None]) ** 2).mean(axis=1))
    return np.minimum(low, figures - reach), np.maximum(high, figures + reach)
