import pandas as pd
import pytest

from commod.charts import KINDS, plot_changes, plot_contributions, plot_f1_by_depth, plot_pareto

CHARTS = [
    (plot_pareto, {}),
    (plot_pareto, {"view": "changes"}),
    (plot_changes, {"better": "now yes", "worse": "now no"}),
    (plot_contributions, {}),
    (plot_f1_by_depth, {}),
]


def walk(spec):
    yield spec
    for layer in spec.get("layer", []):
        yield from walk(layer)


@pytest.mark.parametrize(("plot", "options"), CHARTS)
def test_axes_have_titles_and_data_come_from_outside(plot, options):
    spec = plot(pd.DataFrame(), **options).to_dict()
    for part in walk(spec):
        encoding = part.get("encoding", {})
        for axis in ("x", "y"):
            channel = encoding.get(axis)
            if channel and channel["type"] == "quantitative" and "title" in channel:
                assert channel["title"]
        assert part is spec or "data" not in part, "a layer with data of its own could not be redrawn"
    titles = [p["encoding"][a].get("title") for p in walk(spec) for a in ("x", "y") if a in p.get("encoding", {})]
    assert any(titles)


def test_every_kind_of_point_has_a_colour_of_its_own():
    colours = [colour for colour, _, _ in KINDS.values()]
    assert len(set(colours)) == len(colours)


@pytest.mark.parametrize(("plot", "options"), [CHARTS[2], CHARTS[3]])
def test_bars_are_ordered_by_rank_and_not_by_what_was_drawn_before(plot, options):
    spec = plot(pd.DataFrame(), **options).to_dict()
    for part in walk(spec):
        y = part.get("encoding", {}).get("y")
        if y:
            assert y["sort"] == {"field": "rank", "op": "min"}
