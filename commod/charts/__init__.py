"""DataFrame in, altair chart out; knows nothing about models."""

from commod.installation import needs_extra

with needs_extra("commod.charts", "app"):
    import altair  # noqa: F401

from commod.charts import palette
from commod.charts.compare import (
    MethodStyle,
    plot_calibration,
    plot_methods,
    plot_scatter,
    plot_share_by_group,
    plot_who_changed,
)
from commod.charts.pareto import KINDS, plot_pareto
from commod.charts.parts import export_chart
from commod.charts.people import plot_changes, plot_contributions

__all__ = [
    "KINDS",
    "MethodStyle",
    "export_chart",
    "palette",
    "plot_calibration",
    "plot_changes",
    "plot_contributions",
    "plot_methods",
    "plot_pareto",
    "plot_scatter",
    "plot_share_by_group",
    "plot_who_changed",
]
