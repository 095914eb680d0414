"""People as dots: as many as were asked for, each by its kind, twelve groups on a phone."""

import re

import pandas as pd
import pytest

from commod.charts import export_chart, palette
from commod.charts.dots import plot_hundred

STATES = {f"state_{kind}": said for kind, said in enumerate(("yes, as before", "yes now", "no now", "no, as before"))}
TWO = pd.DataFrame(
    [
        {"label": "White students\n59 → 55 of 100", "rank": 0, "now": 55, "raised": 1, "lowered": 5},
        {"label": "Non-White students\n15 → 37 of 100", "rank": 1, "now": 37, "raised": 22, "lowered": 0},
    ]
).assign(**STATES)


def dots(drawn):
    """Fill opacity, colour and shape of each dot."""
    found = re.findall(r'<path[^>]*transform="translate[^>]*>', drawn)
    return [(re.search(r' d="([^"]*)"', mark)[1], re.search(r'stroke="([^"]*)"', mark)[1], mark) for mark in found]


@pytest.mark.parametrize("good", [True, False])
def test_every_group_has_a_hundred_dots_by_their_kind(good):
    drawn = dots(export_chart(plot_hundred(TWO, good=good), "svg", width=350).decode())
    assert len(drawn) == 200
    filled = [colour for _, colour, mark in drawn if 'fill-opacity="0"' not in mark]
    hollow = [colour for _, colour, mark in drawn if 'fill-opacity="0"' in mark]
    assert len(filled) == 55 + 37
    yes, no = (palette.BETTER, palette.WORSE) if good else (palette.WORSE, palette.BETTER)
    assert {colour.upper() for colour in filled} == {yes}
    assert {colour.upper() for colour in hollow} == {no}
    assert sum("A" not in path for path, _, _ in drawn) == 1 + 5 + 22  # triangles have no arcs


@pytest.mark.parametrize("width", [350, 600])
def test_twelve_groups_with_all_their_lines(width):
    names = [f"Group {letter} × Female" for letter in "LKJIHGFEDCBA"]
    rows = [
        {"label": f"{name}\n9 → 9 of 100", "rank": i, "now": 9, "raised": 0, "lowered": 0}
        for i, name in enumerate(names)
    ]
    drawn = export_chart(plot_hundred(pd.DataFrame(rows).assign(**STATES), few=False), "svg", width=width).decode()
    assert re.findall(r">(Group [^<]*)<", drawn) == names
    assert drawn.count(">9 → 9 of 100<") == 12
    assert len(dots(drawn)) == 1200
