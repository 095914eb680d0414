"""A later batch of people beside those a model was tested on: figures, changes, drift, and requirements again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from commod.decisions.facts import Facts, counts_of_changes
from commod.metrics.counts import sizes_of_groups
from commod.metrics.figures import CRITERIA, key_figures_of
from commod.monitoring.batch_rows import LEAST_PEOPLE, BatchRows, check_width
from commod.monitoring.compare import (
    EVERYONE,
    calibration_bins,
    compare_changes,
    compare_figures,
    compare_gaps,
    compare_shares,
    compare_trees,
    framed,
    of_one_label,
)
from commod.monitoring.drift import compare_spread, scores_as_values
from commod.monitoring.reference import Cells, cells_in, reference_in
from commod.monitoring.requirements import Counted, counted_of
from commod.portable import Portable

# Of the people whom f scores above the median, one in so many stays in a batch that is shifted on purpose.
THINNED = 3

# Settings by which a model is known again.
SIGNED = ("fairness", "lambda_fair", "lambda_ratio", "lambda_concepts", "n_concepts", "threshold")


@dataclass(frozen=True)
class Watched:
    """What became of a model on a later batch.

    Old and new are independent samples. Wherever both are told there are the columns ``old, old_low, old_high, new,
    new_low, new_high, difference`` (new − old), ``low, high`` (its 95 % interval) and ``moved``, whether that leaves
    out 0. Each interval is one of 95 %: of twenty values that stay, one is called moved.

    Attributes
    ----------
    figures : DataFrame
        One row per figure and model: ``figure, model`` ("f", "g" or "change"), ``title``. Without groups in the batch,
        or without labels, what rests on them is left out.
    who : DataFrame
        Whose decisions change, two rows per group: ``group, better`` (changes for the better), ``old_count, old_people,
        new_count, new_people`` (changed, and of how many); the share of the group is compared.
    right : DataFrame
        Of those changes, the share right by the record, with the same columns; empty without labels.
    bins : DataFrame
        Calibration by tenths of the score: ``model, time`` ("old" or "new"), ``mean_score, rate, rate_low, rate_high,
        count``; empty without labels.
    tree : DataFrame
        Nodes of the tree of the changes: ``node, parent, depth, rule, leaf, predicts, old_count, old_changed,
        new_count, new_changed``; the share of changed people is compared.
    f1 : (float, float)
        F1 of the tree, old and new.
    drift : DataFrame
        One row per column: ``column, kind`` ("column", or "score" of f's and g's), ``index`` (population stability),
        ``by_chance`` (what the index stays below in 95 % of batches without drift), ``drift`` ("stable", "look" or
        "shifted"), ``unseen`` (people with a level that nobody had) and ``sentence``.
    spread : DataFrame
        Its classes: ``column, kind, class, place, old, new`` (shares).
    counted : Counted
        The people of the batch, to be added to those of other batches (`State`).
    facts, old_facts : Facts
        What is known of the model on the batch and on the people tested on, for `check_then_and_now`.
    people : int
        Rows of the batch that are counted.
    old_people : int
        People tested on.
    left_out : dict of str to int
        Why rows are not counted, and how many.
    labelled, grouped : bool
        What the batch has.
    notices : tuple of str
        What else is to be known, in sentences.
    about : dict
        ``fairness`` (the criterion that the model was trained for), ``outcomes, favourable``, and what a signature is
        held against: ``settings`` and ``figures`` (key figures of g and, with an f in front, of f on the people tested
        on, and their number as ``people``).
    """

    figures: pd.DataFrame
    who: pd.DataFrame
    right: pd.DataFrame
    bins: pd.DataFrame
    tree: pd.DataFrame
    f1: tuple[float, float]
    drift: pd.DataFrame
    spread: pd.DataFrame
    counted: Counted
    facts: Facts
    old_facts: Facts
    people: int
    old_people: int
    left_out: dict[str, int]
    labelled: bool
    grouped: bool
    notices: tuple[str, ...]
    about: dict[str, Any]


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
    figures += compare_gaps(reference, rows) if rows.labelled else []
    names = reference["groups"] if rows.grouped else [EVERYONE]
    good, settings = reference["favourable"], _settings(model)
    who, right = compare_changes(names, old, new, good)
    nodes, f1 = compare_trees(reference, rows)
    old_scores = {f"The score of {name}": reference["scores"][name] for name in ("f", "g")}
    new_scores = {"The score of f": scores_as_values(rows.scores_f), "The score of g": scores_as_values(rows.scores_g)}
    parts = [compare_spread(reference["columns"], rows.read), compare_spread(old_scores, new_scores, "score")]
    return Watched(
        figures=framed(figures),
        who=framed(who),
        right=framed(right) if rows.labelled else pd.DataFrame(),
        bins=calibration_bins(reference, rows) if rows.labelled else pd.DataFrame(),
        tree=nodes,
        f1=f1,
        drift=pd.concat([drift for drift, _ in parts], ignore_index=True),
        spread=pd.concat([spread for _, spread in parts], ignore_index=True),
        counted=counted,
        facts=facts,
        old_facts=old_facts,
        people=len(rows.y),
        old_people=int(old.rows.sum()),
        left_out=rows.left_out,
        labelled=rows.labelled,
        grouped=rows.grouped,
        notices=tuple(rows.notices),
        about={
            "fairness": settings["fairness"] if settings.get("fairness") in CRITERIA else "",
            "outcomes": list(reference["outcomes"]),
            "favourable": good,
            "settings": settings,
            "figures": _signed_figures(cells_in(reference)),
        },
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
