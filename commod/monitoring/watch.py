"""A later batch of people next to those a model was tested on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from commod.decisions.facts import Facts
from commod.explain.plausibility import counts_of_changes
from commod.metrics.counts import sizes_of_groups
from commod.metrics.figures import CRITERIA, key_figures_of
from commod.monitoring.batch import LEAST_PEOPLE, BatchRows, check_width
from commod.monitoring.drift import compare_columns, scores_as_values
from commod.monitoring.figures import compare_figures, compare_shares, framed, of_one_label
from commod.monitoring.reference import Cells, cells_in, reference_in
from commod.monitoring.requirements import Counted, counted_of
from commod.portable import Portable

# In a batch that is shifted on purpose, one in three stays of those whom f scores above the median.
THINNED = 3

# Settings by which a model is recognised.
SIGNED = ("fairness", "lambda_fair", "lambda_ratio", "lambda_concepts", "n_concepts", "threshold")


@dataclass(frozen=True)
class Watched:
    """What became of a model on a later batch.

    Attributes
    ----------
    figures : DataFrame
        One row per figure and model: ``figure, model`` ("f", "g" or "change"), ``title``; ``old, old_low, old_high,
        new, new_low, new_high, difference`` (new − old), ``low, high`` (its 95 % interval) and ``moved``, whether that
        leaves out 0. Without groups or labels in the batch, what rests on them is left out.
    drift : DataFrame
        One row per column: ``column, kind`` ("column", or "score" of f's and g's), ``index`` (population stability),
        ``by_chance`` (what the index stays below in 95 % of batches without drift), ``drift`` ("stable", "look" or
        "shifted"), ``unseen`` (people with a level that nobody had) and ``sentence``.
    counted : Counted
        The people of the batch, to be added to those of other batches (`WatchState`).
    facts, old_facts : Facts
        What is known of the model on the batch and on the people tested on, for `check_then_and_now`.
    people, old_people : int
        Rows of the batch that are counted, and people tested on.
    groups : dict of str to int
        People of each group in the batch; empty if it does not say who belongs to which.
    left_out : dict of str to int
        Why rows are not counted, and how many.
    labelled : bool
        Whether the batch has labels.
    notices : tuple of str
        What else is to be known, in sentences.
    fairness : str
        The criterion that the model was trained for; empty if the file does not say.
    settings, signed : dict
        What a sealed decision is compared with: settings, and key figures of g and (with an f in front) of f on the
        people tested on, with their number as ``people``.
    """

    figures: pd.DataFrame
    drift: pd.DataFrame
    counted: Counted
    facts: Facts
    old_facts: Facts
    people: int
    old_people: int
    groups: dict[str, int]
    left_out: dict[str, int]
    labelled: bool
    notices: tuple[str, ...]
    fairness: str
    settings: dict[str, Any]
    signed: dict[str, float]


def watch(model: Portable, batch: pd.DataFrame, *, base_scores: Any = None) -> Watched:
    """Look at a later batch; nothing is trained.

    Parameters
    ----------
    model : Portable
        From `read_model`, with what it was like on the people tested on.
    batch : DataFrame
        Raw rows, as `commod.uploads.reading.read_table` gives them, in any order of columns: those that the model needs
        and, if they are known, groups, label and weight. Rows whose group, label, weight or needed value is missing
        though the batch has such a column are left out, and counted.
    base_scores : array, optional
        f's probabilities, where f is not in the file.

    Raises
    ------
    ValueError
        In one sentence, if the file lacks what it was like, or the batch lacks columns or people.
    """
    reference = reference_in(model)
    if not len(batch):
        raise ValueError(f"The batch has no rows: at least {LEAST_PEOPLE} are needed.")
    check_width(model, len(batch))
    rows = BatchRows(model, reference, batch.reset_index(drop=True), base_scores)
    old, new = cells_in(reference), rows.cells
    if not rows.labelled:  # as if all had one label, old and new
        old = Cells(*(of_one_label(each) for each in old))
    if not rows.grouped:
        old = Cells(*(each.sum(axis=0, keepdims=True) for each in old))
    changes = counts_of_changes(rows.certain, rows.before, rows.after, rows.y if rows.labelled else None)
    with np.errstate(divide="ignore", invalid="ignore"):  # rates of a group that has nobody in the batch
        figures = compare_figures(reference, old, new, labelled=rows.labelled, grouped=rows.grouped)
    counted = counted_of(model, reference, new, changes, labelled=rows.labelled)
    facts, old_facts = counted.facts, counted_of(model, reference, cells_in(reference), reference["changes"]).facts
    figures += compare_shares(reference["changes"], changes)
    settings = _settings(model)
    old_scores = {f"The score of {name}": reference["scores"][name] for name in ("f", "g")}
    new_scores = {"The score of f": scores_as_values(rows.scores_f), "The score of g": scores_as_values(rows.scores_g)}
    drift = [compare_columns(reference["columns"], rows.read), compare_columns(old_scores, new_scores, "score")]
    return Watched(
        figures=framed(figures),
        drift=pd.concat([each.sort_values("index", ascending=False) for each in drift], ignore_index=True),
        counted=counted,
        facts=facts,
        old_facts=old_facts,
        people=len(rows.y),
        old_people=int(old.rows.sum()),
        groups=rows.groups,
        left_out=rows.left_out,
        labelled=rows.labelled,
        notices=tuple(rows.notices),
        fairness=settings["fairness"] if settings.get("fairness") in CRITERIA else "",
        settings=settings,
        signed=_signed_figures(cells_in(reference)),
    )


def _settings(model: Portable) -> dict[str, Any]:
    """Those of its settings that a decision has, too."""
    settings = model.content.get("settings")
    found = settings if isinstance(settings, Mapping) else {}
    known = {name: found[name] for name in SIGNED if isinstance(found.get(name), int | float | str)}
    return {name: value for name, value in known.items() if len(str(value)) < 40}


def _signed_figures(cells: Cells) -> dict[str, float]:
    """The figures of a decision's record, from counts."""
    sizes, of_f = sizes_of_groups(cells.rows), np.zeros_like(cells.counts)
    for decided in (0, 1):
        of_f[..., decided, decided] = cells.counts[..., decided, :].sum(axis=-1)
    found = {f"f_{name}": value for name, value in key_figures_of(of_f, sizes).items()}
    return key_figures_of(cells.counts, sizes) | found | {"people": float(cells.rows.sum())}


def halves(logit: np.ndarray, *, shifted: bool) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two random halves of test people: those a model was tested on, and a later batch.

    With `shifted`, the batch leaves out most of those whom f scores above its median.
    """
    order = np.random.default_rng(0).permutation(len(logit))
    old, new = (np.sort(part) for part in np.array_split(order, 2))
    if shifted:
        above = logit[new] > np.median(logit[new])
        new = new[~above | (np.cumsum(above) % THINNED == 0)]
    return old, new
