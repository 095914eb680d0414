import re

import pandas as pd
import pytest

from commod.charts import palette
from commod.charts.parts import export_chart
from commod.charts.people import ACCOUNTS, plot_contributions, plot_waterfall, term_styles

pytestmark = pytest.mark.quick

SUM = pd.DataFrame(
    {
        "label": [
            "Score of f: −1.00",
            "Constant of r: +1.50",
            "Concept 1: −0.75|LSAT score and others",
            "Score of g: −0.25",
        ],
        "rank": range(4),
        "kind": ["f", "up", "down", "g"],
        "start": [0.0, -1.0, 0.5, 0.0],
        "end": [-1.0, 0.5, -0.25, -0.25],
        "ratio": [1.0, -1.5, 0.75, 0.25],
        "chance": [0.27, 0.62, 0.44, 0.44],
    }
)


def test_the_axis_says_what_a_score_decides_and_every_value_is_written():
    svg = export_chart(plot_waterfall(SUM, outcomes=("fails", "passes")), "svg", width=260).decode()
    assert "above 0: “passes”" in svg
    assert "below 0: “fails”" in svg
    for text in ("−1.00", "+1.50", "−0.75", "−0.25", "LSAT score and others"):
        assert text in svg


def test_the_axis_of_a_sum_of_logits_has_chances():
    svg = export_chart(plot_waterfall(SUM, outcomes=("fails", "passes"), line=0.0), "svg", width=260).decode()
    assert "Chance of “passes”" in svg
    assert "50%" in svg
    assert {"35%", "50%"} <= set(re.findall(r">([\d.]+%)<", svg))


def test_a_small_step_does_not_give_the_axis_one_chance_many_times():
    small = SUM.assign(start=[0.0, 0.02, 0.01, 0.0], end=[0.02, 0.01, -0.02, -0.02])
    svg = export_chart(plot_waterfall(small, outcomes=("fails", "passes"), line=0.0), "svg", width=260).decode()
    assert re.findall(r">([\d.]+%)<", svg) == ["50%"]
    svg = export_chart(plot_waterfall(small, outcomes=("fails", "passes"), line=-0.85), "svg", width=260).decode()
    assert re.findall(r">([\d.]+%)<", svg) == ["30%"]  # the line


def test_scores_are_points_and_terms_are_bars():
    svg = export_chart(plot_waterfall(SUM, outcomes=("fails", "passes"), line=0.0), "svg", width=260).decode()
    points, bars = (svg.partition(f"mark-{kind}")[2].partition("</g>")[0] for kind in ("symbol", "rect"))
    assert re.findall("kind: ([a-z]+);", points) == ["f", "g"]
    assert re.findall("kind: ([a-z]+);", bars) == ["up", "down"]
    assert svg.index(">Score of f") < svg.index(">Constant of r") < svg.index(">Score of g")


@pytest.mark.parametrize("favourable", [0, 1])
def test_terms_have_the_colour_of_where_they_lead(favourable):
    spec = plot_waterfall(pd.DataFrame(), outcomes=("no", "yes"), favourable=favourable).to_dict()
    scale = spec["layer"][0]["encoding"]["color"]["scale"]
    colour = dict(zip(scale["domain"], scale["range"], strict=True))
    assert colour["up" if favourable else "down"] == palette.BETTER
    assert colour["down" if favourable else "up"] == palette.WORSE
    assert (colour["f"], colour["g"]) == (palette.F, palette.G)


def test_the_legend_names_both_directions():
    up, down = term_styles(("no", "yes"), 0)
    assert (up.label, up.colour) == ("towards “yes”", palette.WORSE)
    assert (down.label, down.colour) == ("towards “no”", palette.BETTER)


def test_both_accounts_in_one_picture():
    frame = pd.DataFrame(
        [
            {"label": "Age", "rank": 0, "account": name, "value": 0.4 - i, "low": -0.7 * i, "high": -0.5 * i}
            for i, name in enumerate(ACCOUNTS)
        ]
    )
    svg = export_chart(plot_contributions(frame, title="Adds to g's logit against f's"), "svg", width=260).decode()
    assert "Adds to g" in svg
    assert all(name.split(",")[0].replace("'", "&#39;") in svg or name in svg for name in ACCOUNTS)
    for part in plot_contributions(pd.DataFrame()).to_dict()["layer"]:
        assert part["encoding"]["y"]["sort"] == {"field": "rank", "op": "min"}
        assert "data" not in part
