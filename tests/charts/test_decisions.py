import pandas as pd
import pytest

from commod.charts import export_chart
from commod.charts.decisions import SHAPES, VERDICTS, plot_requirement

ROW = {"rank": 0, "value": 0.8, "low": 0.7, "high": 0.9, "refits_low": None, "refits_high": None, "limit": 0.75}
ROWS = pd.DataFrame([ROW | {"name": name, "verdict": name} for name in VERDICTS])


def test_a_verdict_is_told_by_colour_and_by_shape():
    assert len({*VERDICTS.values()}) == len({*SHAPES}) == len(VERDICTS)


@pytest.mark.parametrize("percent", [True, False])
def test_the_limit_is_a_line_and_the_axis_has_its_unit(percent):
    chart = plot_requirement(ROWS, title="Decisions changed", percent=percent)
    svg = export_chart(chart, "svg", width=340).decode()
    assert ("Decisions changed (%)" in svg) == percent
    assert "stroke-dasharray" in svg
    spec = plot_requirement(pd.DataFrame(), title="P-Rule", percent=percent).to_dict()
    assert spec["layer"][-1]["encoding"]["y"]["sort"] == {"field": "rank", "op": "min"}
