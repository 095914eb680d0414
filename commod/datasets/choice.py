"""What is what in anybody's table, as somebody chose it."""

from dataclasses import InitVar, dataclass, field
from typing import Literal

Kind = Literal["number", "category", "leave out"]


class ChoiceError(ValueError):
    """What is wrong with what was chosen, in a sentence that says what to do."""


@dataclass(frozen=True)
class Choice:
    """What is what in a table.

    Attributes
    ----------
    target, favourable : str
        The outcome's column, and the value (as text) that is good for a person, or a tuple of several; all other values
        count as the other outcome.
    sensitive : str or (str, str)
        Column of the sensitive attribute; two of them are crossed.
    groups : tuple of str
        Those of its groups, as text, that are looked at; rows of others are left out. Groups of a crossing are called
        "a × b". Empty for all.
    kinds : mapping of column to "number", "category" or "leave out"
        Columns that are not named are left out.
    scores : str
        Column with f's probabilities of the favourable outcome; empty, if f is to be trained here.
    missing : {"fill", "drop"}
        Missing features: the median for a number and a level of their own for a category, or leave those rows out.
    title : str
    merits : mapping of column to 1 or -1
        Numbers of which more (1) or less (-1) should never count against a person.
    target_cut : float, optional
        Where to cut an outcome of numbers in two: the classes are then called as `bands_of` says.
    scores_out_of : float, default 1
        What a score of certainty is in the column of scores: they are divided by it (100 for percentages).
    person : str
        Column that says whose row it is: all rows of a person are on the same side of the split.
    time : str
        Column of dates or numbers: the latest rows are the test part, whatever the seed.
    turned : bool
        Whether the scores are of the other outcome, so that 1 less them are f's.
    threshold : float, default 0.5
        The probability of the favourable outcome above which f decides for it.
    cuts : mapping of sensitive column to numbers in rising order
        Where to cut it into bands, which are called as `bands_of` says.
    merge : mapping of sensitive column to a mapping of value to name
        Values that are to be called otherwise; those that get the same name are one group.
    unknown : {"drop", "train"}
        Rows whose group is not known: leave them out, or train on them, and measure on the others only.
    weight : str
        Column that says for how many people a row stands, as surveys have it.
    confirm : float
        Share of the people to seal, see `Task.seal`; 0 for nobody, as in files of before there was such a part.
    blanks : tuple of str
        Values of the outcome and of sensitive attributes that say nothing ("XXX"): such cells count as empty.
    sensitive_cut : float
        The same as ``cuts={sensitive: (sensitive_cut,)}``.
    """

    target: str
    favourable: str | tuple[str, ...]
    sensitive: str | tuple[str, ...]
    groups: tuple[str, ...]
    kinds: dict[str, Kind] = field(hash=False)
    scores: str = ""
    missing: Literal["fill", "drop"] = "fill"
    title: str = "Your data"
    merits: dict[str, Literal[1, -1]] = field(default_factory=dict, hash=False)
    target_cut: float | None = None
    sensitive_cut: InitVar[float | None] = None
    scores_out_of: float = 1.0
    person: str = ""
    time: str = ""
    turned: bool = False
    threshold: float = 0.5
    cuts: dict[str, tuple[float, ...]] = field(default_factory=dict, hash=False)
    merge: dict[str, dict[str, str]] = field(default_factory=dict, hash=False)
    unknown: Literal["drop", "train"] = "drop"
    weight: str = ""
    confirm: float = 0.0
    blanks: tuple[str, ...] = ()

    def __post_init__(self, sensitive_cut: float | None) -> None:
        if sensitive_cut is not None:
            if not isinstance(self.sensitive, str):
                raise ChoiceError("Two sensitive attributes are named, and one cut: say which of them is cut there.")
            object.__setattr__(self, "cuts", {**self.cuts, self.sensitive: (sensitive_cut,)})

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """The column of the sensitive attribute, or the two that are crossed."""
        return (self.sensitive,) if isinstance(self.sensitive, str) else self.sensitive

    @property
    def good_values(self) -> tuple[str, ...]:
        """The values of the outcome that are good for a person."""
        return (self.favourable,) if isinstance(self.favourable, str) else self.favourable
