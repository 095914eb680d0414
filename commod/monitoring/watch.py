"""A later batch of people next to those a model was tested on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from commod.datasets.own import MAX_ENCODED
from commod.datasets.raw import read_column
from commod.decisions import Requirements, read_record, requirements_in
from commod.decisions.facts import Facts
from commod.decisions.record import MAX_BYTES
from commod.explain.checks import certainty, counts_of_changes
from commod.metrics.counts import sizes_of_groups
from commod.metrics.figures import CRITERIA, key_figures_of
from commod.monitoring.figures import compare_figures, compare_shares, framed, of_one_label
from commod.monitoring.reference import (
    Cells,
    Reference,
    cells_in,
    cells_of,
    compare_columns,
    groups_in,
    labels_in,
    read_model,
    reference_in,
    scores_as_values,
    weights_in,
)
from commod.monitoring.requirements import Counted, counted_of
from commod.portable import CERTAINTY, ColumnRule, Portable
from commod.uploads.json_file import read_json
from commod.uploads.limits import count_of, short
from commod.uploads.reading import read_table
from commod.wording import some_of

# The least number of people in a batch.
LEAST_PEOPLE = 20


def check_width(model: Portable, n_rows: int) -> None:
    """Whether the batch fits into memory, encoded as r and f take it."""
    content = model.content
    width = max(len(part["encoder"]["mean"]) for part in (content, content["f"]) if "encoder" in part)
    if n_rows * width > MAX_ENCODED:
        most = MAX_ENCODED // 10**6
        raise ValueError(f"{n_rows:,} rows make {width:,} columns; at most {most} million numbers fit: bring a sample.")


class BatchRows:
    """The rows of a batch that are counted, as the model reads them, and what f and g say of them."""

    def __init__(self, model: Portable, reference: Reference, batch: pd.DataFrame, base_scores: Any) -> None:
        self.notices: list[str] = []
        if missing := [name for name in model.columns if name not in batch]:
            some = some_of([f"“{short(name)}”" for name in missing])
            column, them = ("column", "it") if len(missing) == 1 else ("columns", "them")
            raise ValueError(f"The batch has no {column} {some}, which the model needs: add {them}.")
        rules = {rule["name"]: ColumnRule.from_json(rule) for rule in model.content.get("raw", [])}
        wanted = [name for name in dict.fromkeys([*model.columns, *reference["columns"]]) if name in batch]
        read = {name: read_column(batch[name], rules[name]) if name in rules else batch[name] for name in wanted}
        codes, labels = self._groups(reference, batch), self._labels(reference, batch)
        weight = self._weights(reference, batch)
        kept = np.ones(len(batch), dtype=bool)
        self.left_out: dict[str, int] = {}

        def keep(which: np.ndarray, why: str) -> None:
            if count := int((kept & ~which).sum()):
                self.left_out[why] = count
            kept[:] &= which

        for name in _refusing(model):
            keep(read[name].notna().to_numpy(), f"no value of “{short(name)}”")
        if codes is not None:
            keep(codes >= 0, "group not known")
        if labels is not None:
            keep(labels >= 0, "label not known")
        if weight is not None:
            keep(~np.isnan(weight), "no weight above 0")
        if codes is not None and kept.any() and len(np.unique(codes[kept])) < 2:
            only = short(reference["groups"][codes[kept][0]])
            self.notices.append(
                f"Everyone counted is of one group, “{only}”, so fairness is unknown, and they are compared "
                "with everyone tested on."
            )
            codes = None
        self.grouped, self.labelled = codes is not None, labels is not None
        if kept.sum() < LEAST_PEOPLE:
            why = max(self.left_out, key=self.left_out.__getitem__, default="")
            most = f"; most are left out for this: {why}" if why else ""
            usable = count_of(int(kept.sum()), "row")
            raise ValueError(f"{usable} of {len(batch):,} can be counted; at least {LEAST_PEOPLE} are needed{most}.")
        self.read = pd.DataFrame({name: values[kept].reset_index(drop=True) for name, values in read.items()})
        self.codes = np.zeros(int(kept.sum()), dtype=int) if codes is None else codes[kept]
        self.y = np.zeros(len(self.codes), dtype=int) if labels is None else labels[kept]
        self.weight = None if weight is None else weight[kept]
        self._decide(model, None if base_scores is None else np.asarray(base_scores, dtype=float)[kept])
        n_groups = len(reference["groups"]) if self.grouped else 1
        self.cells = cells_of(self.codes, n_groups, self.y, self.before, self.after, self.weight)
        sizes = sizes_of_groups(self.cells.rows).astype(int).tolist()
        self.groups: dict[str, int] = dict(zip(reference["groups"], sizes, strict=True)) if self.grouped else {}
        if absent := ", ".join(f"“{short(name)}”" for name, people in self.groups.items() if not people):
            self.notices.append(f"Nobody in the batch is of the group {absent}.")
        if lacking := [name for name in reference["columns"] if name not in read]:
            some = some_of([f"“{short(name)}”" for name in lacking])
            self.notices.append(f"Not in the batch, nor needed by the model: {some}. Their drift is unknown.")

    def _decide(self, model: Portable, base_scores: np.ndarray | None) -> None:
        # The columns are read already: a rule would divide a score twice.
        plain = Portable({name: part for name, part in model.content.items() if name != "raw"})
        line = float(model.content.get("line", 0.0))
        with np.errstate(all="ignore"):
            self.scores_f = plain.scores_of_f(self.read) if base_scores is None else base_scores
            self.margin_f = logit(np.clip(self.scores_f, CERTAINTY, 1 - CERTAINTY)) - line
            self.margin_g = plain.decision_function(self.read, base_scores=self.scores_f)
            self.scores_g = expit(self.margin_g + line)
        if not (np.isfinite(self.margin_f).all() and np.isfinite(self.margin_g).all()):
            raise ValueError("The model gives infinite scores here: its file is damaged, or the batch has odd values.")
        self.certain = certainty(self.margin_f, line)
        self.before, self.after = (self.margin_f > 0).astype(int), (self.margin_g > 0).astype(int)

    def _groups(self, reference: Reference, batch: pd.DataFrame) -> np.ndarray | None:
        codes = groups_in(reference, batch)
        if codes is not None and (codes >= 0).any():
            return codes
        columns = " × ".join(f"“{short(attribute['column'])}”" for attribute in reference["attributes"])
        known = ", ".join(f"“{short(name)}”" for name in reference["groups"][:6])
        why = f"No row of {columns} names a group that the model knows ({known})"
        why = f"The batch does not say who belongs to which group ({columns})" if codes is None else why
        self.notices.append(f"{why}, so fairness is unknown.")
        return None

    def _labels(self, reference: Reference, batch: pd.DataFrame) -> np.ndarray | None:
        labels, name = labels_in(reference, batch), short(reference["label"]["column"])
        if labels is not None and (labels >= 0).any():
            return labels
        why = "The batch has no label" if labels is None else "No row has a label that the model knows"
        self.notices.append(f"{why} (“{name}”), so accuracy and what else needs it is unknown.")
        return None

    def _weights(self, reference: Reference, batch: pd.DataFrame) -> np.ndarray | None:
        weight = weights_in(reference, batch)
        if weight is None and "weight" in reference:
            name = short(reference["weight"])
            self.notices.append(f"The people tested on are weighted by “{name}”, these are not: each counts as one.")
        return weight


def _refusing(model: Portable) -> list[str]:
    """Columns in which the model takes no gap."""
    content = model.content
    encoders = [part["encoder"] for part in (content, content["f"]) if "encoder" in part]
    without = [column["name"] for encoder in encoders for column in encoder["columns"] if "fill" not in column]
    return list(dict.fromkeys([*without, *([content["f"]["column"]] if content["f"]["kind"] == "column" else [])]))


# In a batch that is shifted on purpose, one in three stays of those whom f scores above the median.
THINNED = 3

# Settings by which a model is recognised.
SIGNED = ("fairness", "lambda_fair", "lambda_ratio", "lambda_concepts", "n_concepts", "threshold")


@dataclass(frozen=True)
class Watched:
    """What became of a model on a later batch."""

    # One row per figure and model: ``figure, model`` ("f", "g" or "change"), ``title``; ``old, old_low, old_high, new,
    # new_low, new_high, difference`` (new − old), ``low, high`` (its 95 % interval) and ``moved``, whether that leaves
    # out 0. Figures that need groups or labels are missing if the batch has none.
    figures: pd.DataFrame
    # One row per column: ``column``, ``shown`` (what the app calls it), ``kind`` ("column", or "score" for f's and
    # g's), ``index`` (population stability), ``by_chance`` (the index stays below it in 95 % of batches without drift),
    # ``drift`` ("stable", "look" or "shifted"), ``unseen`` (people with a level that nobody had) and ``sentence``.
    drift: pd.DataFrame
    counted: Counted  # the people of the batch, to be added to those of other batches (`WatchState`)
    # For `check_then_and_now`, on the batch and on the people tested on.
    facts: Facts
    old_facts: Facts
    people: int  # rows of the batch that are counted
    old_people: int  # people tested on
    groups: dict[str, int]  # people of each group in the batch; empty if it has no groups
    left_out: dict[str, int]  # reasons why rows are not counted, and how many
    labelled: bool  # whether the batch has labels
    notices: tuple[str, ...]
    fairness: str  # the criterion that the model was trained for; empty if the file does not say
    # What a signed decision is compared with: settings, and key figures of g and (prefix ``f_``) of f on the people
    # tested on, with their number as ``people``.
    settings: dict[str, Any]
    signed: dict[str, float]


def watch(
    model: Portable, batch: pd.DataFrame, *, base_scores: Any = None, known: pd.DataFrame | None = None
) -> Watched:
    """Look at a later batch; nothing is trained.

    Parameters
    ----------
    model : Portable
        From `read_model`.
    batch : DataFrame
        Raw rows from `commod.uploads.reading.read_table`, with the columns that the model needs and, if known, groups,
        label and weight. Rows with a gap in one of these are left out, and counted.
    base_scores : array, optional
        f's probabilities, if f is not in the file.
    known : DataFrame, optional
        Features of people who are not new: a batch that mostly equals them gets a notice.

    Raises
    ------
    ValueError
        If the file has no reference, or the batch lacks columns or people.
    """
    reference = reference_in(model)
    if not len(batch):
        raise ValueError(f"The batch has no rows: at least {LEAST_PEOPLE} are needed.")
    check_width(model, len(batch))
    rows = BatchRows(model, reference, batch.reset_index(drop=True), base_scores)
    if known is not None and 2 * (seen := _seen(rows.read, known, model)) > len(rows.y):
        text = f"{seen:,} of {len(rows.y):,} rows equal rows of the data in use, so these are hardly new people."
        rows.notices.insert(0, text)
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
    called = reference.get("called", {})
    drift = [
        compare_columns(reference["columns"], rows.read, called),
        compare_columns(old_scores, new_scores, called, "score"),
    ]
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


def _seen(rows: pd.DataFrame, known: pd.DataFrame, model: Portable) -> int:
    """How many rows equal a known one in all that the model needs."""
    columns = [name for name in model.columns if name in known]
    both = pd.concat([rows[columns].astype(object), known[columns].astype(object)]).map(
        lambda value: f"{value:.6g}" if isinstance(value, int | float) else str(value)
    )
    hashes = pd.util.hash_pandas_object(both, index=False).to_numpy()
    return int(np.isin(hashes[: len(rows)], hashes[len(rows) :]).sum())


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
    """Two random halves of test people, old and new; `shifted` thins out whom f scores above its median in the new."""
    order = np.random.default_rng(0).permutation(len(logit))
    old, new = (np.sort(part) for part in np.array_split(order, 2))
    if shifted:
        above = logit[new] > np.median(logit[new])
        new = new[~above | (np.cumsum(above) % THINNED == 0)]
    return old, new


def about_model(content: bytes) -> dict[str, Any]:
    """What a model file says, as plain data; ValueError if it is no model, or has no reference.

    ``columns`` (needed), ``groups`` and ``label`` (their columns), ``people`` (tested on) and ``about`` (texts).
    """
    model = read_model(content)
    reference = reference_in(model)
    about = model.content.get("about")
    texts = about.items() if isinstance(about, dict) else ()
    return {
        "columns": list(model.columns),
        "groups": [attribute["column"] for attribute in reference["attributes"]],
        "label": reference["label"]["column"],
        "people": int(cells_in(reference).rows.sum()),
        "about": {short(name): short(text, 200) for name, text in texts},
    }


def watch_files(model: bytes, batch: bytes, known: pd.DataFrame | None = None, *, scores: str = "") -> Watched:
    """`watch` on the bytes of a `model.json` and a table; ValueError says what is wrong with one of them.

    A column of the batch may have the name that the app shows. `scores`: column of the batch with f's probabilities, if
    f is not in the model's file.
    """
    read = read_model(model)
    table = read_table(batch).frame
    called = reference_in(read).get("called", {})
    table = table.rename(columns={shown: name for name, shown in called.items() if name not in table})
    if read.needs_scores and not scores:
        raise ValueError("f is not in this model.json: give its scores as a column of the batch, named by --scores.")
    if scores and scores not in table:
        raise ValueError(f"The batch has no column “{short(scores)}”, which should hold the scores of f: name another.")
    given = np.asarray(table[scores]) if scores else None
    if given is not None and (given.dtype.kind not in "fiu" or not ((given >= 0) & (given <= 1)).all()):
        raise ValueError(f"“{short(scores)}” must hold f's probabilities: between 0 and 1, without gaps.")
    try:
        return watch(read, table, base_scores=given, known=known)
    except (ArithmeticError, LookupError, TypeError, AttributeError):  # a file that fits together nowhere
        raise ValueError("The model's file and the batch do not fit together: download the model again.") from None


def read_requirements(content: bytes) -> tuple[Requirements, dict[str, Any] | None]:
    """Requirements from a file, and the signed decision if the file is one; ValueError if it is neither, or changed."""
    found = read_json(content, "a decision, or requirements", MAX_BYTES)
    if "format" not in found:
        return Requirements.from_plain(found), None
    record = read_record(content)
    return requirements_in(record), record
