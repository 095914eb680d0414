"""Does a model still hold? A later batch of people beside those it was tested on."""

from commod.monitoring.reference import read_model, reference_of
from commod.monitoring.watch import Watched, difference_of, stability_index, watch

__all__ = ["Watched", "difference_of", "read_model", "reference_of", "stability_index", "watch"]
