"""Charts of a room: everybody is in them, and each can be drawn."""

import re

import pandas as pd
import pytest

from commod.charts import export_chart
from commod.charts.room import plot_answers, plot_guesses, plot_models
from tests.charts.test_charts import walk

pytestmark = pytest.mark.quick

KINDS = (("Frontier", "frontier"), ("f", "f"), ("First vote", "first"), ("Second vote", "last"))
GUESSES = pd.DataFrame(
    {"kind": ["Guesses", "Guesses", "Model"], "low": [0, 5, 7.0], "high": [5, 10, None], "people": [3, 1, None]}
)
ANSWERS = pd.DataFrame({"name": ["A|first", "B|first"], "rank": [0, 1], "kind": ["other", "right"], "people": [2, 0]})
MODELS = pd.DataFrame(
    [
        ("Frontier", 0.3, 0.8, 0, "λ 1", "frontier", 0.3),
        ("Frontier", 0.6, 0.7, 0, "λ 2", "frontier", 0.6),
        ("f", 0.2, 0.82, 0, "f", "", 0),
        ("Second vote", 0.3, 0.8, 1, "Ann", "move 1", 0),
        ("Second vote", 0.6, 0.7, 1, "Ann", "move 1", 1),
        ("First vote", 0.3, 0.8, 2, "Ann, Bo", "", 0),
        ("Second vote", 0.6, 0.7, 1, "Ann", "", 0),
    ],
    columns=["kind", "fairness", "accuracy", "people", "who", "line", "order"],
)
CHARTS = [
    (plot_guesses, GUESSES, {"title": "Guess (of 100)", "people": "People", "guesses": "Guesses", "answer": "Model"}),
    (plot_answers, ANSWERS, {"kinds": ("other", "right"), "people": "People"}),
    (plot_models, MODELS, {"kinds": KINDS, "x_title": "P-Rule", "y_title": "Accuracy (%)", "people": "People"}),
]


@pytest.mark.parametrize(("plot", "frame", "options"), CHARTS)
def test_every_axis_of_numbers_has_a_title_and_data_come_from_outside(plot, frame, options):
    spec = plot(pd.DataFrame(), **options).to_dict()
    for part in walk(spec):
        assert part is spec or "data" not in part
        for axis in ("x", "y"):
            channel = part.get("encoding", {}).get(axis, {})
            if channel.get("type") == "quantitative":
                assert channel.get("title") or channel["axis"]["title"]


@pytest.mark.parametrize(("plot", "frame", "options"), CHARTS)
def test_it_can_be_drawn(plot, frame, options):
    svg = export_chart(plot(frame, **options), "svg", width=400).decode()
    assert "NaN" not in svg
    assert "<path" in svg


def test_the_legend_shows_first_votes_as_the_rings_that_they_are():
    svg = export_chart(plot_models(MODELS, **CHARTS[2][2]), "svg", width=400).decode()
    symbols = re.findall(r'role-legend-symbol"[^>]*><path[^>]*?( fill="|)(?: fill-opacity|#)', svg)
    assert [bool(filled) for filled in symbols] == [True, True, False, True]


@pytest.mark.parametrize(("plot", "frame", "options"), CHARTS)
def test_letters_are_as_large_as_asked_for(plot, frame, options):
    svg = export_chart(plot(frame, **options, font=23), "svg", width=400).decode()
    assert 'font-size="23px"' in svg
    assert 'font-size="16px"' not in svg


def test_who_stands_at_one_point_is_counted_there():
    svg = export_chart(plot_models(MODELS, **CHARTS[2][2]), "svg", width=400).decode()
    assert ">2</text>" in svg
