"""Post-hoc SHAP of the change in score, next to COMMOD's own account of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.pipeline import Pipeline

from commod.datasets.encoding import TabularEncoder
from commod.datasets.task import Task
from commod.installation import needs_extra
from commod.models.base_models import base_logits
from commod.models.estimator import Commod
from commod.models.rescaler import acted_on

TOP = 5
# Orders of the features that SHAP tries for one person.
PERMUTATIONS = 4


@dataclass(frozen=True)
class ShapComparison:
    """SHAP and COMMOD on logit g − logit f."""

    # One row per input column, the largest COMMOD contribution first: ``label, shap`` (mean |SHAP| over the redrawn
    # backgrounds), ``shap_low, shap_high`` (over the redraws) and ``commod`` (mean |contribution|), all in logits.
    features: pd.DataFrame
    agreement: float  # Spearman's rank correlation of the two accounts
    evaluations: int  # scores that one SHAP run needs; COMMOD's own account needs one per row
    top_kept: float  # mean share of SHAP's top five features that stay there when the background is redrawn
    rows: int
    background: int
    redraws: int


def explain_with_shap(
    g: Commod,
    task: Task,
    X: pd.DataFrame,
    *,
    n_rows: int = 60,
    n_background: int = 30,
    redraws: int = 5,
    callback: Callable[[float], object] | None = None,
) -> ShapComparison:
    """Explain logit g − logit f on a sample of X by SHAP's permutation explainer and by COMMOD's contributions.

    If g `decides` by its balance, both explain the balance minus logit f: all that features move.

    SHAP attributes to input columns (a category is one column, not one per level) and needs a background sample to
    average over; it is run `redraws` times, each with another background, on the same rows. COMMOD's account is read
    from the model: what each column adds to r, times logit f.

    Parameters
    ----------
    callback : callable
        Called with the share done; an exception it raises ends the work.
    """
    rng = np.random.default_rng(0)
    table = _Codes(X)
    rows = table.codes[np.sort(rng.permutation(len(X))[:n_rows])]

    change_of, asked = _change_of_codes(g, table), 0

    def change(codes: np.ndarray) -> np.ndarray:
        nonlocal asked
        asked += len(codes)
        return change_of(codes)

    runs = []
    chunk = max(1, len(rows) // 6)
    for draw, explainer in enumerate(_explainers(change, table, n_background, redraws)):
        parts = []
        for at in range(0, len(rows), chunk):
            if callback is not None:
                callback((draw + at / len(rows)) / redraws)
            values = explainer(rows[at : at + chunk], max_evals=2 * rows.shape[1] + 1, silent=True).values  # noqa: PD011
            parts.append(np.abs(values))
        runs.append(np.vstack(parts).mean(axis=0))
    shap = np.array(runs)  # (redraws, columns)
    own = _own_contributions(g, table.frame(rows))
    features = _features(task, X, shap).assign(commod=own)
    tops = [list(features["label"].iloc[np.argsort(-run, kind="stable")[:TOP]]) for run in shap]
    pairs = [(a, b) for i, a in enumerate(tops) for b in tops[i + 1 :]]
    kept = float(np.mean([len(set(a) & set(b)) / len(a) for a, b in pairs])) if pairs else 1.0
    constant = np.ptp(features["shap"]) == 0 or np.ptp(own) == 0
    agreement = 0.0 if constant else float(spearmanr(features["shap"], own).statistic)
    return ShapComparison(
        features.sort_values(["commod", "shap"], ascending=False, kind="stable"),
        agreement,
        asked // redraws,
        kept,
        len(rows),
        n_background,
        redraws,
    )


def explain_person_with_shap(
    g: Commod,
    task: Task,
    X: pd.DataFrame,
    x: pd.DataFrame,
    *,
    n_background: int = 30,
    redraws: int = 5,
    callback: Callable[[float], object] | None = None,
) -> pd.DataFrame:
    """Explain one person's change (`x`, one row) by SHAP, signed; backgrounds are rows of `X`.

    Columns as in `ShapComparison.features`; with the average change over the background (``attrs["average"]``) they
    add up to the person's change.
    """
    table = _Codes(X)
    change = _change_of_codes(g, table)
    row = _Codes(x[X.columns]).codes
    runs, averages = [], []
    for draw, explainer in enumerate(_explainers(change, table, n_background, redraws)):
        if callback is not None:
            callback(draw / redraws)
        found = explainer(row, max_evals=PERMUTATIONS * (2 * row.shape[1] + 1), silent=True)
        runs.append(found.values[0])  # noqa: PD011
        averages.append(float(np.ravel(found.base_values)[0]))
    features = _features(task, X, np.array(runs))
    features.attrs["average"] = float(np.mean(averages))
    return features


def _explainers(
    change: Callable[[np.ndarray], np.ndarray], table: _Codes, n_background: int, redraws: int
) -> Iterator[Any]:
    """SHAP's permutation explainers, each with another background."""
    Permutation, Independent = warm_up()
    for draw in range(redraws):
        background = table.codes[np.random.default_rng(1 + draw).permutation(len(table.codes))[:n_background]]
        yield Permutation(change, Independent(background, max_samples=n_background), seed=0)


def _features(task: Task, X: pd.DataFrame, shap: np.ndarray) -> pd.DataFrame:
    """Mean and range of what the redraws (redraws, columns) give each column."""
    values = {"shap": shap.mean(axis=0), "shap_low": shap.min(axis=0), "shap_high": shap.max(axis=0)}
    labels = [task.label(column) for column in X.columns]
    return pd.DataFrame({"label": labels} | values, index=pd.Index(X.columns, name="column"))


@cache
def warm_up() -> tuple[Any, Any]:
    """SHAP's permutation explainer and its masker, imported and compiled before any explaining is timed."""
    with needs_extra("A comparison with SHAP", "app"):
        from shap.explainers import Permutation
        from shap.maskers import Independent
    rows = np.arange(8.0).reshape(4, 2)
    Permutation(lambda x: x.sum(axis=1), Independent(rows), seed=0)(rows[:1], max_evals=5, silent=True)
    return Permutation, Independent


def _own_contributions(g: Commod, X: pd.DataFrame) -> np.ndarray:
    """Mean |what each input column adds to logit g − logit f|, the constants of r and s left out."""
    logit = g.margin_of_f(X)
    encoded = g.encoder_.transform(X[list(g.encoder_.feature_names_in_)])
    parts = encoded * g.coef_.to_numpy() * logit[:, None]
    parts += encoded * g.shift_coef_.to_numpy()
    parts *= acted_on(g.rescaler_.acts_on, logit)[:, None]
    columns = [column for column, _ in g.encoder_.origin_]
    return np.array(
        [np.abs(parts[:, [c == column for c in columns]].sum(axis=1)).mean() for column in X.columns], dtype=float
    )


def _change_of_codes(g: Commod, table: _Codes) -> Callable[[np.ndarray], np.ndarray]:
    """The change as a function of coded rows; without a DataFrame for each, where f starts with the encoding of r."""
    f = g.base_model_
    encoder = g.encoder_
    shared = isinstance(f, Pipeline) and len(f) == 2 and isinstance(f[0], TabularEncoder)
    if not shared or f[0].feature_names_out_ != encoder.feature_names_out_:

        def by_frame(codes: np.ndarray) -> np.ndarray:
            frame = table.frame(codes)
            return g.balance(frame) - g.margin_of_f(frame)

        return by_frame

    lookups: dict[int, np.ndarray] = {}
    for i, dtype in enumerate(table.dtypes.values()):
        if dtype is not None:
            codes = np.zeros((len(dtype.categories), len(table.dtypes)))
            codes[:, i] = np.arange(len(dtype.categories))
            lookups[i] = encoder.raw(table.frame(codes))
    places = [list(table.dtypes).index(column) for column, _ in encoder.origin_]

    def by_lookup(codes: np.ndarray) -> np.ndarray:
        columns = [
            lookups[i][codes[:, i].astype(int), j] if i in lookups else codes[:, i] for j, i in enumerate(places)
        ]
        raw = np.column_stack(columns)
        logit = base_logits(f[1], (raw - f[0].mean_) / f[0].scale_) - g.line_
        encoded = (raw - encoder.mean_) / encoder.scale_
        return g.rescaler_.balance(encoded, logit) - logit

    return by_lookup


class _Codes:
    """A table as numbers and back: SHAP mixes rows column by column, which category codes survive."""

    def __init__(self, X: pd.DataFrame) -> None:
        self.dtypes: dict[Any, Any] = {}
        columns = []
        for name in X.columns:
            values = X[name]
            if isinstance(values.dtype, pd.CategoricalDtype):
                self.dtypes[name] = values.dtype
                columns.append(values.cat.codes.to_numpy(dtype=float))
            else:
                self.dtypes[name] = None
                columns.append(values.to_numpy(dtype=float))
        self.codes = np.column_stack(columns)

    def frame(self, codes: np.ndarray) -> pd.DataFrame:
        data = {
            name: codes[:, i] if dtype is None else pd.Categorical.from_codes(codes[:, i].astype(int), dtype=dtype)
            for i, (name, dtype) in enumerate(self.dtypes.items())
        }
        return pd.DataFrame(data)
