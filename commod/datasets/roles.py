"""Guess the role of each column from names, values and positions; a person confirms the guesses."""

import re
from collections.abc import Callable, Collection, Sequence

import numpy as np
import pandas as pd

from commod.cells import folded
from commod.datasets.choice import Choice
from commod.datasets.columns import words_of
from commod.datasets.own_groups import LEAST_IN_GROUP, MAX_GROUPS, MAX_VALUES, classes_of, groups_of, levels_of
from commod.datasets.raw import OTHER, read_numbers

# Names of outcomes in any field; in one field, those that are bad for a person, and those that are good.
_GENERIC = (
    r"\b(y|target|label|outcome|class|classification|decision|response|action taken"
    r"|(final|loan|application) (status|result))\b"
)
_BAD_OUTCOMES = (
    r"\b(default\w*|delinq\w*|dlq\w*|bankrupt\w*|foreclos\w*|fraud\w*|charged off|bad|risky?|late|arrears"
    r"|\w*recid\w*|reoffen\w*|rearrest\w*|arrest\w*|convict\w*|crimes?|violent|violations?|violated|frisked|searched"
    r"|stroke|disease|cancer|tumou?r|diabetes|diabetic|hypertension|sepsis|infect\w*|ill|sick|died|death|dead|deceased"
    r"|mortality|readmi\w*|complications?|injur\w*|malignan\w*"
    r"|churn\w*|attrition|attrited|left|quit|cancel\w*|dropout|dropped|fail\w*|den(y|ied|ial|ials)|reject\w*|declined"
    r"|refus\w*|fired|laid off|terminat\w*|turnover|resign\w*|suspen\w*|expel\w*|expuls\w*|expired?|unemploy\w*"
    r"|poverty|evict\w*|remov(ed|al)|deport\w*|detain\w*|detention|jail\w*|incarcerat\w*|imprison\w*|sentenced"
    r"|charges|no show|severity|exit|exited|depress\w*|relaps\w*|overdose\w*|suicid\w*|chd|cvd|victim\w*)\b"
)
_GOOD_OUTCOMES = (
    r"\b(approv\w*|accept\w*|admi(t|ts|tted|ssion|ssions)|hired?|selected|shortlist\w*|promot\w*|employed|granted|grant"
    r"|surviv\w*|alive|recover\w*|cured|pass|passed|graduat\w*|success\w*|won|win|match\w*|repaid|repay\w*|paid|good"
    r"|incomes?|salary|wage|wages|earnings?|subscri\w*|deposit|creditworth\w*|eligible|awarded|offer(ed)?|grades?|gpa"
    r"|releas\w*|callbacks?|called back|parole\w*|certified|satisf\w*|bar)\b"
)
# Names of outcomes that often mean something else, too.
_WEAK = r"\b(status|costs?|results?|action|diagnosis|performance|credit|final|event|attractive)\b"
# Words for what came before, for a quantity, or for a model's opinion: with these a name is never an outcome.
_NO_OUTCOME = (
    r"\b(prev|previous|prior|priors|past|last|history|hist|num|number|count|amount|amt|reason|type|code|desc|description|text|family|parent|parents|mother|father|mothers|fathers|spouse"
    r"|predicted|prediction|pred|prob|probability|score|scores|decile|juv|minimum|maximum|rate|ratio|other|gain|loss)\b"
)
_NEGATED = r"\b(not|no|non|never|without)\b(?! show)"
_TIME = r"\b(date|day|days|month|months|year|years|yrs|time)\b"
_SENSITIVE = {
    r"\b(race\w*|ethnic\w*|gend\w*|\w*gender|sex|sexe|sexo|geschlecht|minority|protected)\b"
    r"|^(is )?(female|male|black|white|hispanic)$": 4.0,
    r"\b(nationality|religion\w*|disab\w*|foreign\w*|citizen\w*|native|caste|migrant|immigra\w*|national|origin)\b"
    r"|\b(colou?r|afam)\b|^group$": 3.0,
    r"\b(group|age|ages|aged)\b": 2.0,
    r"\b(marital|married|language)\b": 1.0,
}
_SCORES = re.compile(r"\b(scores?|prob\w*|proba|pred\w*|risk|decile|percentile)\b|^p (?!value)")

# Words in other columns' names that point to a field in which 1 is the bad outcome: illness, or default.
_HEALTH = (
    r"\b(bmi|glucose|gluc|cholesterol|chol|blood|bp|insulin|hypertension|smok\w*|pregnan\w*|creatinine|platelets|heart"
    r"|biops\w*|symptoms?|patient|albumin|bilirubin|hemo\w*|rbc|wbc|tumou?r|cancer)\b"
)
_CREDIT = r"\b(credit|loans?|debt\w*|bureau|delinq\w*|installments?)\b"

_PLACES = re.compile(r"\b(zip|zipcode|postcode|postal|tract|branch|store|school|hospital|court)\b")

# Values that say yes and no, and words in values that are good and bad for a person.
_YES = {"1", "yes", "y", "true", "t", "positive", "pos", "+", "ja", "oui", "si", "sí", "sim", "да", "是"}
_NO = {"0", "no", "n", "false", "f", "negative", "neg", "-", "none", "nein", "non", "não", "нет", "否", "-1"}
_DENIALS = ("no ", "not ", "non-", "not", "non", "un")
_GOOD_VALUES = (
    r"\b(good|pass(ed|es)?|approv\w*|accept\w*|hired|admitted|grant\w*|fully paid|paid|repaid|surviv\w*|alive|lives?"
    r"|graduat\w*|distinction|success\w*|healthy|benign|stayed|eligible|promoted|employed|originated|low risk"
    r"|favou?rable|certified|released|satisfied)\b"
)
_BAD_VALUES = (
    r"\b(not|bad|fail\w*|den(y|ied|ial)|reject\w*|declined|refus\w*|charged off|default\w*|late|dies?|died|dead|death"
    r"|deceased|drop(ped)?( ?out)?|withdrawn|high risk|malignant|churn\w*|attrited|left|arrest\w*|recid\w*|convicted"
    r"|unemployed|sick|ill|un(paid|successful|fit|healthy|satisfied|favou?rable|approved|accepted|safe)|lost|fraud\w*|terminated|expelled|detained|dissatisfied|removed)\b"
)

# How often a guess is right at least, by its evidence: the words of the values, a name, the field (health, or credit),
# or nothing; `python -m tests.datasets.test_guesses` counts it. Below `ASK_BELOW` the user is asked.
_RIGHT = {"values": 0.95, "name": 0.95, "field": 0.7, "nothing": 0.5}
ASK_BELOW = 0.8
# The lead of an outcome over the next best column, and the weight of the name of a sensitive attribute, at which they
# count as known by their names.
_TARGET_SURE, _SENSITIVE_SURE = 1.5, 3.0


# Values that mean "unknown", although table readers do not take them as empty.
_BLANKS = (
    r"x{2,}|(.*\b)?(un|not )(known|stated|given|provided|specified|reported|recorded|available|applicable|disclosed)"
    r"\b.*|prefer(red)? not .*|declined to (answer|state|say)|(do not|don.?t) know|no (answer|response|data)"
    r"|k\. ?a\.|keine angaben?|unbekannt|inconnue?|non (précisé|renseigné)e?"
)


class Guess(str):
    """A guess, how often one like it is right, and what else it could be, the likeliest first."""

    confidence: float
    others: tuple[str, ...]

    def __new__(cls, value: str, confidence: float, others: Sequence[str] = ()) -> "Guess":
        guess = super().__new__(cls, value)
        guess.confidence, guess.others = confidence, tuple(others)
        return guess

    @property
    def is_sure(self) -> bool:
        """Whether the guess needs no confirmation."""
        return self.confidence >= ASK_BELOW


def columns_of_numbers(guesses: pd.DataFrame) -> list[str]:
    """Columns that can be an outcome or a sensitive attribute once cut: numbers with three or more values."""
    return [str(column) for column in guesses.index[(guesses["kind"] == "number") & (guesses["values"] > 2)]]


def values_of(column: pd.Series, cut: float | Sequence[float] | None = None) -> list[str]:
    """The values of a column as text, the most common first; or its sides, if it is cut."""
    return [str(value) for value in classes_of(column, cut).value_counts().index]


def columns_of_roles(guesses: pd.DataFrame) -> list[str]:
    """Columns that can be an outcome or a sensitive attribute, cut if necessary, in the order of the file."""
    has_classes = guesses["values"].between(2, MAX_VALUES)
    numbers = columns_of_numbers(guesses)
    return [str(column) for column in guesses.index if has_classes[column] or column in numbers]


def guess_target(columns: Sequence[str], guesses: pd.DataFrame) -> Guess:
    """The outcome among `columns`: by its name, its values (two, rather than more), and a place at an end."""
    places = {str(column): place for place, column in enumerate(guesses.index)}

    def evidence(column: str) -> float:
        words = words_of(column)
        examples = str(guesses.loc[column].get("examples", "")).lower()
        valued = bool(re.search(_GOOD_VALUES, examples)) + bool(re.search(_BAD_VALUES, examples))
        named = max(
            4.0 * bool(re.search(_GENERIC, words)),
            3.0 * bool(re.search(_BAD_OUTCOMES, words) or re.search(_GOOD_OUTCOMES, words)),
            1.5 * bool(re.search(_WEAK, words)),
        )
        return named + 0.75 * valued - 2.0 * bool(re.search(_NO_OUTCOME, words)) - 1.0 * bool(re.search(_TIME, words))

    def likely(column: str) -> float:
        values = int(guesses.loc[column, "values"])
        few = 2.0 if values == 2 else 1.0 if values <= 5 else -0.5 if values <= 10 else -2.0
        place = places[column] / max(len(places) - 1, 1)
        ends = 1.5 * (place == 1.0) + 1.0 * (place == 0.0)
        return evidence(column) + few + place + ends - 2.0 * _sensitive_by_name(words_of(column))

    best = _best(columns, likely, _TARGET_SURE)
    # Two values in the last column are no proof.
    return best if evidence(best) > 1 else Guess(best, _RIGHT["nothing"], best.others)


def guess_sensitive(columns: Sequence[str], guesses: pd.DataFrame) -> Guess:
    """The sensitive attribute among `columns`: by its name; rather with two values than more; the first of equals."""

    def likely(column: str) -> float:
        values = int(guesses.loc[column, "values"])
        few = 0.5 if values == 2 else 0.0 if values <= 12 else -1.0
        return _sensitive_by_name(words_of(column)) + few

    best = _best(columns, likely, 0.0)
    named = _sensitive_by_name(words_of(best)) >= _SENSITIVE_SURE
    return Guess(best, _RIGHT["name" if named else "nothing"], best.others)


def _best(columns: Sequence[str], likely: Callable[[str], float], sure: float) -> Guess:
    """The likeliest column and the next two; its certainty follows from its lead over the second."""
    in_order = sorted(columns, key=likely, reverse=True)
    lead = likely(in_order[0]) - likely(in_order[1]) if len(in_order) > 1 else sure
    return Guess(in_order[0], _RIGHT["name" if lead >= sure else "nothing"], in_order[1:3])


def _sensitive_by_name(words: str) -> float:
    return max(weight * bool(re.search(pattern, words)) for pattern, weight in _SENSITIVE.items())


def guess_favourable(values: Sequence[str], target: str = "", columns: Sequence[str] = ()) -> Guess:
    """The value of an outcome that is good for a person: by what it says, and by what the outcome is called.

    `values`: the most common first. `target`: name of the outcome: of "default" or "readmitted", no is the good value.
    `columns`: names of all columns: where the outcome's own name says nothing, two that speak of health make no the
    good value; and two that speak of credit, if no is more common.
    """
    value, reason = _favourable(values, target, columns)
    return Guess(value, _RIGHT[reason], [other for other in values if other != value])


def guess_blanks(values: Sequence[str]) -> list[str]:
    """Values of an outcome or a group that say nothing; none, if fewer than two others are left."""
    found = [value for value in values if re.fullmatch(_BLANKS, folded(value))]
    return found if len(values) - len(found) >= 2 else []


def guess_good_values(values: Sequence[str]) -> list[str]:
    """Of three or more values, the good ones for a person; none unless the words of each value say what it is."""
    good, bad = _recognised_values(values)
    return good if len(good) + len(bad) == len(values) else []


def _recognised_values(values: Sequence[str]) -> tuple[list[str], list[str]]:
    """Values that are good for a person by their words, and those that are bad."""
    bad = [value for value in values if re.search(_BAD_VALUES, value.lower())]
    return [value for value in values if value not in bad and re.search(_GOOD_VALUES, value.lower())], bad


def _favourable(values: Sequence[str], target: str, columns: Sequence[str]) -> tuple[str, str]:
    """The favourable value and the evidence for it: its words, the outcome's name, the field, or nothing."""
    words = words_of(target)
    is_good, is_bad = bool(re.search(_GOOD_OUTCOMES, words)), bool(re.search(_BAD_OUTCOMES, words))
    by = "name" if is_good != is_bad and not re.search(_NEGATED, words) else "nothing"
    low = {value: value.lower().strip(" .") for value in values}
    if is_good == is_bad:
        fields = [_HEALTH, _CREDIT] if low[values[0]] in _NO else [_HEALTH]
        sentences = [sum(bool(re.search(field, words_of(name))) for name in columns) for field in fields]
        is_bad = not is_good and max(sentences) >= 2
        by = "field" if is_bad else "nothing"
    good, bad = _recognised_values(values)
    if good:
        return good[0], "values" if len(good) + len(bad) == len(values) or len(values) == 2 else "nothing"
    yes = [value for value in values if low[value] in _YES]
    no = [value for value in values if low[value] in _NO]
    denials = {f"{no}{low[other]}" for no in _DENIALS for other in values}
    denied = [value for value in values if low[value] in denials]
    if denied and not no and not yes:
        yes, no = [value for value in values if value not in denied], denied
        is_bad |= any(value in bad for value in yes)
    if set(low.values()) == {"1", "2"}:  # 1 yes, 2 no, as surveys code it
        yes, no = ([value for value in values if low[value] == code] for code in ("1", "2"))
        by = "nothing"
    above = [value for value in values if low[value].startswith((">", "≥")) or low[value].endswith("+")]
    below = [value for value in values if low[value].startswith(("<", "≤", "- "))]
    for yes_like, no_like in ((yes, no), (above, below)):
        if found := (no_like if is_bad else yes_like):
            return found[0], by if len(values) == 2 and yes_like and no_like else "nothing"
    if bad and len(bad) < len(values):
        return next(value for value in values if value not in bad), "values" if len(values) == 2 else "nothing"
    return values[0], "nothing"


def guess_cut(column: pd.Series) -> float:
    """Where to cut a column of numbers: at its median, or the next value above if nothing lies below that."""
    numbers = read_numbers(column)[0].dropna()
    middle = float(numbers.median())
    return middle if (numbers < middle).any() else float(numbers[numbers > middle].min())


def guess_cuts(column: pd.Series, bands: int) -> tuple[float, ...]:
    """Where to cut a column of numbers into bands with about equally many rows; few values are cut anywhere."""
    numbers = read_numbers(column)[0].dropna()
    if bands == 2:
        return (guess_cut(column),)
    shares = np.arange(1, bands) / bands
    possible = np.unique(numbers)[1:]  # below each there is somebody
    cuts = np.intersect1d(np.quantile(numbers, shares, method="higher"), possible)
    if len(cuts) < bands - 1:
        cuts = possible[np.linspace(0, len(possible) - 1, bands - 1).round().astype(int)]
    return tuple(float(cut) for cut in cuts)


def is_cut(column: str, guesses: pd.DataFrame) -> bool:
    """Whether a column is at first cut in two: numbers with more than ten values."""
    return column in columns_of_numbers(guesses) and int(guesses.loc[column, "values"]) > 10


def count_levels(frame: pd.DataFrame, choice: Choice, column: str) -> dict[str, int]:
    """Rows of each level of a sensitive column after cuts and merges, the most common first."""
    return {str(level): int(rows) for level, rows in levels_of(frame, choice, column).value_counts().items()}


def guess_merge(frame: pd.DataFrame, choice: Choice) -> dict[str, dict[str, str]]:
    """Levels merged at first, as few as possible: the rarest if there are too many, and nearly empty ones."""
    merge, most = {}, MAX_GROUPS
    for column in reversed(choice.sensitive_columns):
        rows = count_levels(frame, choice, column)
        kept = list(rows) if len(rows) <= most else list(rows)[: most - 1]
        few = [level for level, count in rows.items() if level not in kept or count < LEAST_IN_GROUP]
        if len(few) > 1:
            merge[column] = dict.fromkeys(few, OTHER)
        levels = {merge.get(column, {}).get(level, level) for level in rows}
        most = max(2, most // max(len(levels), 1))
    return merge


def guess_groups(frame: pd.DataFrame, choice: Choice) -> tuple[str, ...]:
    """The groups at first: all that are large enough to test on, the largest first."""
    rows = groups_of(frame, choice).value_counts()
    return tuple(str(group) for group, count in rows.items() if count >= LEAST_IN_GROUP or len(rows) == 2)


# ---- scores, people and times ----


def possible_scores(frame: pd.DataFrame, guesses: pd.DataFrame, taken: Collection[str] = ()) -> dict[str, float]:
    """Columns that can hold a model's scores, and their maximum (1, 10 or 100).

    Numbers between 0 and 1, of three values or more; numbers up to 10 or 100, if they are called scores.
    """
    found = {}
    for column in guesses.index[(guesses["kind"] == "number") & (guesses["values"] >= 3)]:
        if column in taken:
            continue
        numbers = read_numbers(frame[column])[0]
        named = bool(_SCORES.search(words_of(str(column))))
        out_of = next((most for most in (1.0, 10.0, 100.0) if numbers.max() <= most and (most == 1.0 or named)), None)
        if out_of is not None and numbers.min() >= 0:
            found[str(column)] = out_of
    return found


def guess_scores(possible: dict[str, float]) -> str:
    """The column of scores among the possible ones: probabilities that are named so, otherwise none ("")."""
    return next((column for column, most in possible.items() if most == 1 and _SCORES.search(words_of(column))), "")


def possible_people(frame: pd.DataFrame, guesses: pd.DataFrame) -> dict[str, int]:
    """Columns of codes that some rows share, and how many rows those are.

    A code that occurs in more than twenty rows on average identifies a place or a firm, not a person.
    """
    found = {}
    for column in guesses.index[guesses["special"] == "code"]:
        codes = frame[column].dropna()
        again = int(codes.duplicated(keep=False).sum())
        if again >= 0.01 * len(frame) and codes.nunique() >= 0.05 * len(codes) and not _PLACES.search(words_of(column)):
            found[str(column)] = again
    return found


def possible_times(guesses: pd.DataFrame) -> list[str]:
    """Columns of dates."""
    return [str(column) for column in guesses.index[guesses["special"] == "date"]]


def possible_weights(guesses: pd.DataFrame) -> list[str]:
    """Columns of numbers that can say how many people a row stands for, likely names first.

    None is used as weights without asking: only somebody who knows the survey knows whether they weigh these people.
    """
    named = guesses["special"] == "weight"
    return [str(column) for column in (*guesses.index[named], *guesses.index[~named & (guesses["kind"] == "number")])]
