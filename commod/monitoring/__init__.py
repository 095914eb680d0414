"""Does a model still hold? A later batch of people beside those it was tested on."""

from commod.monitoring.figures import difference_of
from commod.monitoring.outcome import Judged, Outcome, check_signature, headline, judge, outcome_of
from commod.monitoring.reference import batch_of, read_model, reference_of, stability_index
from commod.monitoring.requirements import check_then_and_now
from commod.monitoring.state import WatchState, read_state
from commod.monitoring.watch import Watched, about_model, read_requirements, watch, watch_files

__all__ = [
    "Judged",
    "Outcome",
    "WatchState",
    "Watched",
    "about_model",
    "batch_of",
    "check_signature",
    "check_then_and_now",
    "difference_of",
    "headline",
    "judge",
    "outcome_of",
    "read_model",
    "read_requirements",
    "read_state",
    "reference_of",
    "stability_index",
    "watch",
    "watch_files",
]
