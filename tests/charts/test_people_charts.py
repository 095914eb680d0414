import pandas as pd
import pytest

from commod.charts import export_chart, palette
from commod.charts.people import (
    AFTER,
    BEFORE,
    plot_again,
    plot_certainty,
    plot_outcomes,
    plot_reliability,
    plot_segment_shares,
)

pytestmark = pytest.mark.quick

SEGMENT = {"rank": 0, "segment": "s", "count": 72, "part": 66, "share": 0.9, "low": 0.8, "high": 0.97, "overall": 0.085}
SEGMENTS = pd.DataFrame([{"name": "Age 18 to 25|Sex: male: 66 of 72", **SEGMENT}])
OUTCOMES = pd.DataFrame(
    [
        {
            "name": "A, “yes” (90)",
            "rank": 0,
            "model": model,
            "rate": rate,
            "low": 0.4,
            "high": 0.5,
            "people": 4,
            "count": 9,
        }
        for model, rate in ((BEFORE, 0.4), (AFTER, 0.5))
    ]
)
CHARTS = [
    (plot_segment_shares, {"of": "better", "title": "Now better off"}),
    (plot_outcomes, {"decision": "yes"}),
]


@pytest.mark.parametrize(("plot", "options"), CHARTS)
def test_axes_have_titles_with_units_and_rows_keep_their_rank(plot, options):
    spec = plot(pd.DataFrame(), **options).to_dict()
    titles = [layer["encoding"]["x"].get("title") for layer in spec["layer"]]
    assert any(title and title.endswith(")") and "%" in title for title in titles)
    for layer in spec["layer"]:
        assert "data" not in layer
        assert layer["encoding"]["y"]["sort"] == {"field": "rank", "op": "min"}


@pytest.mark.parametrize(
    ("of", "colour"), [("changed", palette.G), ("better", palette.BETTER), ("worse", palette.WORSE)]
)
def test_colours_say_the_direction(of, colour):
    marks = [layer["mark"] for layer in plot_segment_shares(pd.DataFrame(), of=of).to_dict()["layer"]]
    assert {mark["color"] for mark in marks} == {colour, palette.FRONTIER}


def svg(chart, width):
    return export_chart(chart, "svg", width=width).decode()


def test_both_parts_of_a_name_are_drawn():
    assert "Age 18 to 25 · Sex: male: 66 of 72" in svg(plot_segment_shares(SEGMENTS), 340)


def test_outcomes_are_drawn():
    drawn = svg(plot_outcomes(OUTCOMES, decision="yes"), 340)
    assert "A, “yes” (90)" in drawn
    assert "Decided “yes” (%)" in drawn


def test_every_class_has_its_label():
    """The last one is what the sentence beside the chart is about."""
    for plot in (plot_again, plot_certainty):
        assert plot(pd.DataFrame()).to_dict()["encoding"]["x"]["axis"]["labelOverlap"] is False


def test_the_legend_of_calibration_is_as_strong_as_its_lines():
    layers = plot_reliability(pd.DataFrame(), outcome="yes").to_dict()["layer"]
    legends = [
        layer["encoding"][name]["legend"]
        for layer in layers
        for name in ("color", "shape")
        if name in layer["encoding"]
    ]
    assert {legend["symbolOpacity"] for legend in legends} == {1}
