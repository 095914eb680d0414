"""One fit and everything drawn from it. Its methods take a while, so workers call them (`jobs/tasks.py`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from commod import __version__
from commod.dashboard.state.settings import GRIDS, Settings, data_in_words, in_words
from commod.dashboard.text.language import FIRST, declared, phrase
from commod.dashboard.text.stories import called, extremes, of_100
from commod.dashboard.text.verdicts import Changes, Verdict, cost_of_limits, verdict
from commod.datasets import Task
from commod.experiments import Scene
from commod.experiments.checks import Evidence, answers_of_decisions, evidence_of
from commod.experiments.refits import Refits
from commod.experiments.sweep import Cell
from commod.explain import (
    ChangeTree,
    ShapComparison,
    explain_concepts,
    explain_loadings,
    explain_tree,
    explain_with_shap,
)
from commod.explain.checks import Answer, check_again, check_merit, explain_record
from commod.explain.groups import Groups, count_hundred, explain_groups, proxies_of
from commod.explain.model_warnings import are_treated_alike, base_model_warnings, may_be_chance, model_warnings
from commod.explain.people import DEPTHS, ChangeSegments, explain_people, explain_segments, leaf_words
from commod.explain.shap_comparison import explain_person_with_shap
from commod.explain.what_if import edit_row, explain_merit
from commod.metrics import CRITERIA, change_table, compare_decisions
from commod.metrics.counts import new_people_interval
from commod.models import Commod
from commod.models.base_models import BASE_MODELS
from commod.models.export import portable_json
from commod.models.threshold import ONE_HALF

# Bytes of a fit's frames and of its estimator, for any number of rows.
FRAMES = 96 * 2**10
# Parts of a fit that take a while to make.
EXPLAINED = ("figures", "changes", "groups", "record", "at_hand", "loadings", "concepts")
# Called with the share done.
Progress = Callable[[float], None]
Made = TypeVar("Made")


@dataclass(frozen=True)
class FitResult:
    """One fit and every frame drawn from it."""

    settings: Settings
    scene: Scene
    g: Commod
    path: pd.DataFrame  # λ_fair, fairness and the key figures on test, from f to g
    ratio_test: np.ndarray
    shift_test: np.ndarray  # 0 without a shift
    changed_train: np.ndarray
    changed_test: np.ndarray

    kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)  # see `keep`

    @classmethod
    def of(cls, scene: Scene, settings: Settings, g: Commod) -> FitResult:
        """A trained model on its scene."""
        ratio, shift = g.rescaler_.ratio_and_shift(scene.encoded_test, scene.logit_test)
        return cls(
            settings=settings.model(),
            scene=scene,
            g=g,
            path=scene.figures_on_path(g, settings.fairness),
            ratio_test=ratio,
            shift_test=shift,
            changed_train=(g.rescaler_.score(scene.encoded_train, scene.logit_train) > 0) != scene.decisions_train,
            changed_test=(ratio * scene.logit_test + shift > 0) != (scene.logit_test > 0),
        )

    def keep(self, name: str, make: Callable[[], Made]) -> Made:
        """The result of `make`, computed once: many people draw a model's page."""
        if name not in self.kept:
            self.kept[name] = make()
        return self.kept[name]

    def __getstate__(self) -> dict[str, Any]:
        """Leaves out what can be computed again."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)} | {"kept": {}}

    @cached_property
    def decisions(self) -> np.ndarray:
        """Of g on test."""
        return (self.logit > 0).astype(int)

    @cached_property
    def figures(self) -> pd.DataFrame:
        """Figures of f and g on test, with intervals."""
        test = self.scene.test
        return compare_decisions(
            test.y,
            self.scene.decisions_test,
            self.decisions,
            sensitive_features=test.sensitive,
            scores=(self.scene.logit_test, self.logit),
            sample_weight=test.weight,
            n_groups=len(self.task.groups),
        )

    @cached_property
    def changes(self) -> pd.DataFrame:
        """Changes by group and direction, on test."""
        before, test = self.scene.decisions_test, self.scene.test
        return change_table(before, self.decisions, sensitive_features=test.sensitive, sample_weight=test.weight)

    @cached_property
    def groups(self) -> Groups | None:
        """Each of many groups against everyone, on test; with two groups, the figures say everything."""
        before, test = self.scene.decisions_test, self.scene.test
        many = self.has_many_groups
        return explain_groups(self.task, test, self.settings.fairness, before, self.decisions) if many else None

    @cached_property
    def record(self) -> pd.DataFrame:
        """Changes by group and direction that agree with the record, on test."""
        before, test = self.scene.decisions_test, self.scene.test
        return explain_record(self.task, test.y, test.sensitive, before, self.decisions, self.scene.certainty_test)

    @cached_property
    def at_hand(self) -> dict[str, Answer]:
        """Answers to the checks that need only decisions."""
        return answers_of_decisions(self.scene, self.decisions, self.record)

    @cached_property
    def loadings(self) -> pd.DataFrame:
        return explain_loadings(self.g, self.task)

    @cached_property
    def concepts(self) -> pd.DataFrame:
        """What each concept does, and how well it alone predicts the group (``auc, low, high, group``), on test."""
        own, values = self.activations
        frame = explain_concepts(self.g, self.task, values, self.scene.decisions_test, self.decisions)
        groups = self.scene.train.sensitive.to_numpy(), self.scene.test.sensitive.to_numpy()
        tells = proxies_of(own, values, *groups)
        found = tells.set_index("name")[["auc", "low", "high", "group"]].reindex(frame.index)
        # Of two groups it is clear which is told from which.
        group = "" if len(self.task.groups) == 2 else found["group"].map(dict(enumerate(self.task.groups)))
        return frame.assign(group=group, **found[["auc", "low", "high"]])

    @property
    def activations(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The values of the concepts on the training and on the test rows."""
        return self.g.activations_of(self.scene.encoded_train), self.g.activations_of(self.scene.encoded_test)

    @cached_property
    def change_counts(self) -> Changes:
        """Decisions changed on test."""
        return Changes.of(self.scene, self.decisions)

    @property
    def verdict(self) -> str:
        """The picture in two sentences, in the first language."""
        return self.verdict_in(FIRST)

    def verdict_in(self, language: str, *, movable: bool = True, complete: bool = True) -> str:
        """The picture in two sentences; `movable`: whether its reader can move λ_fair.

        Before it is `complete`, nothing is said about chance: intervals take a while.
        """
        if self.change_counts.count:
            what = self.task.spec, self.settings.fairness, self.hundred, self.change_counts, self.gain
            return verdict(language, *what, chance=complete and self.gain_may_be_chance)
        if self.is_fair_already:
            return self._fair_already(language)
        if self.settings.lambda_fair == GRIDS["lambda_fair"][-1]:
            return phrase(language, "verdict.nobody_at_end")
        text = phrase(language, "verdict.nobody_yet" if self.settings.lambda_fair else "verdict.is_f")
        return f"{text} {phrase(language, 'verdict.move_on')}" if movable else text

    def _fair_already(self, language: str) -> str:
        spec, rows, total = self.task.spec, self.hundred, len(self.decisions)
        people = declared(language, spec.people)
        if not may_be_chance(self.scene.test.sensitive, self.scene.decisions_test):
            return phrase(language, "verdict.fair_already", total=total, people=people)
        values = {}
        for place, code in zip(("least", "most"), extremes(spec, rows), strict=True):
            values[place] = of_100(language, rows[code], "before")
            values[f"who_{place}"] = called(language, spec, code)
        yes = declared(language, spec.outcomes[1])
        return phrase(language, "verdict.perhaps_fair", total=total, people=people, yes=yes, **values)

    @property
    def is_fair_already(self) -> bool:
        """Whether the data show no difference in how f treats the groups."""
        by_label = CRITERIA[self.settings.fairness].by_label
        return not by_label and bool(are_treated_alike(self.scene.test.sensitive, self.scene.decisions_test))

    @property
    def gain(self) -> float:
        """How much fairer g is than f, on test."""
        f, g = (self.path["fairness"].iloc[place] for place in (0, -1))
        return float(CRITERIA[self.settings.fairness].gain(g - f))

    @property
    def gain_may_be_chance(self) -> bool:
        row = self.figures.loc[CRITERIA[self.settings.fairness].figure_name]
        return bool(row["difference_low"] <= 0 <= row["difference_high"])

    @property
    def has_bad_verdict(self) -> bool:
        """Whether to suggest trying something else."""
        return Verdict.of(self.gain, self.change_counts, chance=self.gain_may_be_chance).is_bad

    @cached_property
    def hundred(self) -> dict[int, dict[str, Any]]:
        """Every group as a hundred people, on test, by its code."""
        return count_hundred(self.task, self.scene.test, self.scene.decisions_test, self.decisions)

    @property
    def line_in_words(self) -> str:
        """The score at which the decision turns; logits are counted from there."""
        line = self.scene.threshold
        return "one half" if line == ONE_HALF else f"f's cut-off, {line:.1%}"

    @property
    def acts_only(self) -> str:
        """On whom g acts, in words; empty for everybody."""
        decided = {"negative": 0, "positive": 1}.get(self.g.rescaler_.acts_on)
        if decided is None:
            return ""
        return f"g acts only where f says “{self.task.spec.outcomes[decided]}”; everywhere else it is f."

    @property
    def expected(self) -> str:
        """How many changes a budget allows, and how many to expect among new people; empty without a budget."""
        if not self.settings.max_changes:
            return ""
        low, high = new_people_interval(self.changed_test.sum(), len(self.changed_test))
        return f"Right now {self.changed_train.sum():,} do. On 1,000 new people expect {low} to {high} changes."

    def beside(self, free: FitResult) -> str:
        """How `free`, the same model without limits on the update, differs."""
        parts = [(one.figures, one.changes) for one in (self, free)]
        return cost_of_limits(self.task.spec, self.settings.fairness, *parts)

    def answers(self, merit: pd.DataFrame | None = None, refits: Refits | None = None) -> dict[str, Answer]:
        """Whether the changes make sense: the answers available so far, by check."""
        found = {} if merit is None else {"merit": check_merit(self.task, merit)}
        found |= {} if refits is None else {"again": check_again(self.changed_test, refits.share, len(refits))}
        return self.at_hand | found

    def explained(self) -> dict[str, Any]:
        """What pages draw below the first picture (for `fill`)."""
        return {name: getattr(self, name) for name in EXPLAINED}

    def fill(self, made: dict[str, Any]) -> FitResult:
        """Take over what `explained` has computed elsewhere."""
        self.__dict__.update(made)
        return self

    @property
    def logit(self) -> np.ndarray:
        """Logits of g's score on test, minus the threshold's."""
        return self.ratio_test * self.scene.logit_test + self.shift_test

    @property
    def scores(self) -> np.ndarray:
        """Of g on test."""
        return self.scene.probabilities(self.logit)

    @property
    def cell(self) -> Cell:
        """The model as one of a sweep."""
        arguments = self.settings.commod_arguments()
        value, _ = arguments.pop("lambda_fair"), arguments.pop("fairness")
        return Cell("commod", value, tuple(arguments.items()))

    @property
    def nbytes(self) -> int:
        """Its approximate size without the scene, for caches."""
        return 2 * self.ratio_test.nbytes + self.changed_train.nbytes + self.changed_test.nbytes + FRAMES

    @property
    def task(self) -> Task:
        return self.scene.task

    @property
    def has_many_groups(self) -> bool:
        return len(self.task.groups) > 2

    @property
    def converged(self) -> bool:
        return bool(self.g.converged_)

    # ---- what pages ask for on its own ----

    def tree(self, depth: int, depths: Iterable[int] = DEPTHS) -> ChangeTree:
        """The tree of the changes, fitted on the training rows and read out on the test rows."""
        train, test = (self.scene.train.X, self.changed_train), (self.scene.test.X, self.changed_test)
        return explain_tree(self.task, self.g.encoder_, *train, *test, depth, depths=depths)

    def shap(self, report: Progress | None = None) -> ShapComparison:
        """SHAP next to COMMOD's own account, on the test rows."""
        return explain_with_shap(self.g, self.task, self.scene.test.X, callback=report)

    def person_shap(
        self, number: int, edits: tuple[tuple[str, Any], ...], report: Progress | None = None
    ) -> pd.DataFrame:
        rows = self.scene.test.X
        edited = edit_row(rows.iloc[[number]], dict(edits))
        return explain_person_with_shap(self.g, self.task, rows, edited, callback=report)

    def evidence(self) -> Evidence:
        """Calibration and proxies."""
        return evidence_of(self.scene, self.scores, self.activations)

    def merit(self) -> pd.DataFrame:
        """The people whom more merit hurts."""
        return explain_merit(self.task, self.scene.test.X, self.scene.margin_of_f, self.g.decision_function)

    def segments(self) -> ChangeSegments:
        test = self.scene.test
        return explain_segments(self.task, test.X, test.sensitive, self.scene.decisions_test, self.decisions)

    def people(self, depth: int) -> pd.DataFrame:
        """The test people who changed, numbered as on the page What if, with their leaf of the tree."""
        test, leaves = self.scene.test, self.tree(depth)
        frame = explain_people(self.g, self.task, test, leaf=leaves.ends)
        frame.index = test.X.index.get_indexer(frame.index)
        return frame.assign(leaf=frame["leaf"].map(leaf_words(leaves)))

    # ---- as a file ----

    @property
    def base_model(self) -> str:
        """What f is, in words."""
        if isinstance(self.scene.f, str):
            return f"scores in the column “{self.scene.f}”"
        name = self.settings.f
        return BASE_MODELS[name][0] if name in BASE_MODELS else name

    def as_json(self) -> str:
        """The model for `commod.portable`."""
        about = {
            "data": data_in_words(self.settings),
            "positive class": self.task.spec.outcomes[1],
            "f": self.base_model,
            "settings": in_words(self.settings),
            "made by": f"commod {__version__}",
        }
        return portable_json(self.g, about=about, contract=self.task.contract)


def concerns_in_words(result: FitResult) -> list[str]:
    """Problems of a model, or of f, that fairness and accuracy do not show, on test."""

    def made() -> list[str]:
        scene, test, task = result.scene, result.scene.test, result.task
        concerns = base_model_warnings(task, test.y, test.sensitive, scene.scores_test, scene.threshold)
        alike = len(np.unique(scene.decisions_test)) == 1
        grave = [concern.text for concern in concerns if concern.is_question or (alike and concern.kind == "one-sided")]
        margins, frames = (scene.logit_test, result.logit), (result.figures, result.path)
        return grave + model_warnings(task, result.settings.fairness, test.y, test.sensitive, *margins, *frames)

    return result.keep("concerns", made)
