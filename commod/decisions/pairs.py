"""Choose by pairs: questions "this model or that?", the most telling first, and the model that the answers lead to.

A preference is a weight for each figure, a level above which more of it no longer matters, and how steadily a person
answers. Thousands are drawn once; each answer raises the weight of those that predicted it. The next pair is the one
with the highest expected utility of its better model (Lin et al. 2022, "Preference exploration for efficient Bayesian
optimization with multiple outcomes").
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd

from commod.decisions.rivals import collapses_of, share_against
from commod.experiments.scene import Scene
from commod.experiments.sweep import Sweep
from commod.metrics.counts import undominated
from commod.metrics.figures import CRITERIA, FIGURES

Said = Literal["a", "b", "n", "s"]
# Answers by the letter that stands for them in links.
ANSWERS: dict[Said, str] = {"a": "model A", "b": "model B", "n": "no difference", "s": "skipped"}
# The least and the most questions that are answered, and the most that are asked, skipped ones included.
FEWEST, MOST, MOST_ASKED = 8, 15, 30
# These questions repeat an earlier one with its sides swapped.
REPEATS = (6, 12)
# Nearly as good as the best: losing at most this share of the distance between best and worst.
NEARLY = 0.05
# Sure enough to stop: the probability that the chosen model is nearly as good as the best.
SURE_ENOUGH = 0.9
# Preferences that are drawn.
DRAWN = 6000
# Answers fit together if one preference explains this share of the choices; of random answers it explains about 0.6.
FITS = 0.8
# Prior range of steadiness: the distance between best and worst in units of an answer's noise.
STEADY = (3.0, 60.0)
# The share of people who lose a favourable decision, which is no declared figure.
WORSE_OFF = "worse_off"


def models_to_choose_from(scene: Scene, sweep: Sweep) -> pd.DataFrame:
    """The sound models of a sweep that differ and that no other beats in everything.

    By place in the sweep: the figure of its criterion, ``accuracy``, ``change_rate`` and ``worse_off`` (the share of
    people who lose the favourable decision), without columns in which all models are equal. ``attrs["signs"]`` says
    whether more (1) or less (-1) is better.
    """
    criterion = CRITERIA[str(sweep.points["fairness"].iloc[0])]
    names = [criterion.figure_name, "accuracy", "change_rate"]
    values = sweep.points[names].assign(**{WORSE_OFF: share_against("improve", scene, sweep)})
    values = values[[not reason for reason in collapses_of(scene, sweep)]]
    values = values.dropna().round(9).drop_duplicates()
    signs = {name: FIGURES[name].direction for name in names[:2]} | {"change_rate": -1, WORSE_OFF: -1}
    values = values[undominated(*(sign * values[name] for name, sign in signs.items()))]
    differing = [name for name in signs if values[name].max() > values[name].min()]
    found: pd.DataFrame = values[differing]
    found.attrs["signs"] = {name: signs[name] for name in differing}
    return found


@dataclass(frozen=True)
class PairAnswer:
    """What was said of two models, by their places: "a", "b", "n" for no difference, or "s" if it was skipped."""

    a: int
    b: int
    said: Said

    @property
    def is_choice(self) -> bool:
        return self.said in ("a", "b")

    @property
    def chosen(self) -> int:
        """The place of the model that was chosen."""
        return self.a if self.said == "a" else self.b


@dataclass(frozen=True)
class Preference:
    """What the answers lead to."""

    place: int  # of the preferred model in its sweep
    sure: float  # probability that it is nearly as good as the best (see `NEARLY`)
    answered: int  # questions answered, not skipped
    # Choices between A and B: how many this preference explains, and of how many.
    explained: int
    choices: int
    # Repeated questions: how many were answered alike, and of how many.
    same: int
    repeated: int

    @property
    def fits(self) -> bool:
        """Whether the answers fit together: one preference explains most, and repeats were answered alike."""
        return self.explained >= FITS * self.choices and self.same == self.repeated


class Interview:
    """Questions about models, and what the answers say. The same models and answers give the same questions.

    `models` come from `models_to_choose_from`; `seed` draws the preferences and the sides on which models stand.
    """

    def __init__(self, models: pd.DataFrame, seed: int = 0) -> None:
        self.models, self.seed = models, seed
        self._places = [int(place) for place in models.index]

    @cached_property
    def digest(self) -> str:
        """Six letters that identify these models."""
        return hashlib.sha256(self.models.round(6).to_csv().encode()).hexdigest()[:6]

    @cached_property
    def _drawn(self) -> tuple[np.ndarray, np.ndarray]:
        """Under each preference, the utility of each model, and how far apart best and worst are (see `STEADY`)."""
        random = np.random.default_rng(self.seed)
        values = self.models.to_numpy() * [self.models.attrs["signs"][name] for name in self.models]
        spans = np.ptp(values, axis=0)
        scaled = (values - values.min(axis=0)) / spans  # (models, figures), 1 is the best of each
        shape = (DRAWN, len(spans))
        weight = random.dirichlet(np.ones(len(spans)), DRAWN)
        enough = np.where(random.random(shape) < 0.5, 1.0, random.uniform(0.2, 1.0, shape))
        steady = np.exp(random.uniform(np.log(STEADY[0]), np.log(STEADY[1]), DRAWN))
        parts = [np.minimum(scaled[:, k], enough[:, [k]]) * (weight / enough)[:, [k]] for k in range(len(spans))]
        return np.sum(parts, axis=0), steady

    # ---- asking ----

    def next_question(self, answers: Sequence[PairAnswer]) -> tuple[int, int] | None:
        """Places of the next models A and B; None when enough is known or all pairs were asked."""
        answered = sum(answer.said != "s" for answer in answers)
        if (
            answered >= MOST
            or len(answers) >= MOST_ASKED
            or (answered >= FEWEST and self._best(self._likely(answers))[1] >= SURE_ENOUGH)
        ):
            return None
        again = self._to_repeat(answers) if len(answers) + 1 in REPEATS else None
        return again or self.most_telling(answers)

    def _to_repeat(self, answers: Sequence[PairAnswer]) -> tuple[int, int] | None:
        """The first choice that has not come again, its sides swapped."""
        pairs = [frozenset((answer.a, answer.b)) for answer in answers]
        once = [answer for answer, pair in zip(answers, pairs, strict=True) if pairs.count(pair) == 1]
        return next(((answer.b, answer.a) for answer in once if answer.is_choice), None)

    def most_telling(self, answers: Sequence[PairAnswer]) -> tuple[int, int] | None:
        """The pair, not asked before, whose better model has the highest expected utility."""
        if len(self._places) < 2:
            return None
        (utility, _), likely = self._drawn, self._likely(answers)
        hoped = np.array([likely @ np.maximum(utility[:, [i]], utility) for i in range(len(self._places))])
        hoped[np.tril_indices(len(hoped))] = -np.inf
        for answer in answers:
            i, j = sorted((self._places.index(answer.a), self._places.index(answer.b)))
            hoped[i, j] = -np.inf
        if hoped.max() == -np.inf:
            return None
        pair = [self._places[i] for i in divmod(int(hoped.argmax()), len(hoped))]
        swap = np.random.default_rng((self.seed, len(answers))).random() < 0.5
        return (pair[1], pair[0]) if swap else (pair[0], pair[1])

    def replay(self, said: str) -> list[PairAnswer]:
        """The answers behind the letters of `ANSWERS` that were given, one after another."""
        answers: list[PairAnswer] = []
        for letter in said:
            pair = self.next_question(answers)
            if pair is None:
                break
            answers.append(PairAnswer(*pair, letter))  # type: ignore[arg-type]
        return answers

    # ---- what the answers say ----

    def _likely(self, answers: Sequence[PairAnswer]) -> np.ndarray:
        """Probability of each preference that was drawn."""
        log = np.zeros(DRAWN)
        for answer in answers:
            margin = self._drawn[1] * self._margin(answer)
            ahead, behind = -np.logaddexp(0, -margin), -np.logaddexp(0, margin)
            # No difference is half a choice of either.
            log += {"a": ahead, "b": behind, "n": (ahead + behind) / 2, "s": 0.0}[answer.said]
        likely: np.ndarray = np.exp(log - log.max())
        return likely / likely.sum()

    def _margin(self, answer: PairAnswer) -> np.ndarray:
        """By how much A is better than B under each preference."""
        utility, _ = self._drawn
        found: np.ndarray = utility[:, self._places.index(answer.a)] - utility[:, self._places.index(answer.b)]
        return found

    def _best(self, likely: np.ndarray) -> tuple[int, float]:
        """The best model on average over the preferences, by its number, and how sure it is nearly the best."""
        utility, _ = self._drawn
        best = int((likely @ utility).argmax())
        lost = utility.max(axis=1) - utility[:, best]
        return best, float(likely @ (lost <= NEARLY * np.ptp(utility, axis=1)))

    def preference(self, answers: Sequence[PairAnswer]) -> Preference:
        """The model that the answers lead to, how sure that is, and how consistent they were."""
        likely = self._likely(answers)
        best, sure = self._best(likely)
        choices = [answer for answer in answers if answer.is_choice]
        explained = sum(likely @ self._margin(each) * (1 if each.said == "a" else -1) > 0 for each in choices)
        same, repeated = _repeated(answers)
        return Preference(
            place=self._places[best],
            sure=sure,
            answered=sum(answer.said != "s" for answer in answers),
            explained=int(explained),
            choices=len(choices),
            same=same,
            repeated=repeated,
        )


def _repeated(answers: Sequence[PairAnswer]) -> tuple[int, int]:
    """Of the questions that came twice and were both times answered by a choice, how many alike; and how many."""
    first: dict[frozenset[int], int] = {}
    same = repeated = 0
    for answer in answers:
        pair = frozenset((answer.a, answer.b))
        if pair in first and answer.is_choice:
            repeated += 1
            same += answer.chosen == first[pair]
        elif answer.is_choice:
            first[pair] = answer.chosen
    return same, repeated
