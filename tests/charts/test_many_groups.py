"""Twelve groups in a picture: every name in full beside its bar, in order, without a legend of groups, also narrow."""

import re

import pandas as pd
import pytest

from commod.charts import export_chart, plot_changes, plot_share_by_group
from commod.charts.people import AFTER, BEFORE, plot_group_rates

pytestmark = pytest.mark.quick

GROUPS = [f"Group {letter} × Female" for letter in "LKJIHGFEDCBA"]  # not in the order of their names
CHANGES = pd.DataFrame(
    [
        {
            "group": f"{name}|{12 - rank} of 100",
            "rank": rank,
            "direction": way,
            "share": 0.1,
            "count": 5,
            "place": place,
        }
        for rank, name in enumerate(GROUPS)
        for place, way in enumerate(("better", "worse"))
    ]
)
RATES = pd.DataFrame(
    [
        {"name": name, "rank": rank, "model": model, "rate": 0.4, "low": 0.3, "high": 0.5, "people": 4, "count": 10}
        for rank, name in enumerate(GROUPS)
        for model in (BEFORE, AFTER)
    ]
).assign(overall=0.45)
SQUARES = pd.DataFrame(
    [
        {
            "label": label,
            "rank": i,
            "group": name,
            "group_rank": rank,
            "share": 0.1,
            "better": 5,
            "worse": 5,
            "count": 100,
        }
        for rank, name in enumerate(GROUPS)
        for i, label in enumerate(("COMMOD", "LPP"))
    ]
)
CHARTS = {
    "changes": plot_changes(CHANGES, better="better", worse="worse", many=True),
    "rates": plot_group_rates(RATES, decision="yes"),
    "squares": plot_share_by_group(SQUARES, most=0.2),
}


@pytest.mark.parametrize("width", [330, 900])
@pytest.mark.parametrize("name", list(CHARTS))
def test_every_group_has_its_name_in_order(name, width):
    drawn = export_chart(CHARTS[name], "svg", width=width).decode()
    shown = [text for text in re.findall(r"<text[^>]*>([^<]*)</text>", drawn) if text.startswith("Group ")]
    assert [text.partition(" ·")[0] for text in shown] == GROUPS


def test_names_stand_above_the_bars_of_many_groups_only():
    """Two groups are drawn as they ever were."""
    few = plot_changes(pd.DataFrame(), better="b", worse="w").to_dict()
    assert few["height"] == 270
    assert few["mark"] == {"type": "bar", "height": {"band": 0.62}}
    assert few["encoding"]["y"]["axis"]["labelLimit"] == 240
    assert CHARTS["changes"].to_dict()["encoding"]["y"]["axis"]["labelAlign"] == "left"
