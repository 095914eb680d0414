"""DataFrame in, Altair chart out; nothing here knows of models."""

from commod.charts.bars import plot_changes, plot_contributions
from commod.charts.curves import plot_f1_by_depth
from commod.charts.pareto import KINDS, plot_pareto

__all__ = ["KINDS", "plot_changes", "plot_contributions", "plot_f1_by_depth", "plot_pareto"]
