"""The rows of a later batch that are counted, as a model reads them, and what f and g say of them."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from commod.datasets.raw import read_column
from commod.explain.plausibility import certainty
from commod.metrics.counts import sizes_of_groups
from commod.monitoring.reference import Reference, cells_of, groups_in, labels_in, weights_in
from commod.portable import CERTAINTY, ColumnRule, Portable
from commod.uploads.limits import count_of, short

# The least number of people in a batch, and of a group whose calibration is told.
LEAST_PEOPLE = 20
# Numbers that a batch may become, encoded: 400 MB.
MAX_ENCODED = 50_000_000


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
            some = ", ".join(f"“{short(name)}”" for name in missing[:5]) + (" …" if len(missing) > 5 else "")
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
        self.groups: dict[str, int] = {}
        if self.grouped:
            self.groups = dict(
                zip(reference["groups"], sizes_of_groups(self.cells.rows).astype(int).tolist(), strict=True)
            )
            absent = ", ".join(f"“{short(name)}”" for name, people in self.groups.items() if not people)
            self.notices += [f"Nobody in the batch is of the group {absent}."] if absent else []
        lacking = [name for name in reference["columns"] if name not in read]
        if lacking:
            some = ", ".join(f"“{short(name)}”" for name in lacking[:5]) + (" …" if len(lacking) > 5 else "")
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
        columns = " × ".join(f"“{short(attribute['column'])}”" for attribute in reference["attributes"])
        if codes is None:
            why = f"The batch does not say who belongs to which group ({columns})"
        elif (codes >= 0).any():
            return codes
        else:
            known = ", ".join(f"“{short(name)}”" for name in reference["groups"][:6])
            why = f"No row of {columns} names a group that the model knows ({known})"
        self.notices.append(f"{why}, so fairness is unknown.")
        return None

    def _labels(self, reference: Reference, batch: pd.DataFrame) -> np.ndarray | None:
        labels, name = labels_in(reference, batch), short(reference["label"]["column"])
        if labels is None:
            why = f"The batch has no label (“{name}”)"
        elif (labels >= 0).any():
            return labels
        else:
            why = f"No row has a label that the model knows (“{name}”)"
        self.notices.append(f"{why}, so accuracy and what else needs it is unknown.")
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
