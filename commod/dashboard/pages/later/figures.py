"""All figures then and now."""

import pandas as pd

from commod.charts.later import plot_differences
from commod.dashboard.pages.later.then_and_now import INTERVALS, with_words
from commod.dashboard.views.chart import draw as draw_chart
from commod.dashboard.views.table import Table
from commod.metrics.figures import key_figures
from commod.monitoring import Watched

# Beside the key figures, what the picture of all differences shows; the table behind it has everything.
SHOWN = ("decided", "sure", "right", "calibration_gap")
FIGURES = Table(
    "All figures then and now, as a table", "later_figures", {"title": ("Figure", ""), "model": ("Of", ""), **INTERVALS}
)


def draw_figures(found: Watched) -> None:
    """How far each figure moved."""
    keys = [figure.name for figure in key_figures()]
    frame = with_words(found.figures)
    own = frame["model"] != "f"
    shown = frame[own & frame["figure"].isin([*keys, *SHOWN])].reset_index(drop=True)
    data = pd.DataFrame(
        {
            "name": shown["title"].str.replace("… ", "Changes ", regex=False),
            "rank": range(len(shown)),
            "difference": shown["difference"],
            "low": shown["low"],
            "high": shown["high"],
            "told": shown["told"],
            "then": shown["old"].map(_shown),
            "now": shown["new"].map(_shown),
        }
    )
    models = {"f": "f", "g": "g", "change": "g against f"}
    table = Table(FIGURES.title, FIGURES.key, FIGURES.columns, lambda: frame.assign(model=frame["model"].map(models)))
    draw_chart(
        plot_differences,
        data,
        alt="How far each figure of g moved, with its interval.",
        table=table,
        caption="Of g, and of its changes against f; lines are 95 % intervals of the difference between two samples.",
    )


def _shown(value: float) -> str:
    return f"{value:z.3f}".replace("-", "−")
