from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from commod.charts import (
    KINDS,
    MethodStyle,
    export_chart,
    palette,
    plot_calibration,
    plot_changes,
    plot_contributions,
    plot_methods,
    plot_pareto,
    plot_scatter,
    plot_who_changed,
)
from commod.charts.compare import spread_labels, with_labels
from commod.charts.limits import plot_limits
from commod.charts.people import plot_curve, plot_paying, plot_record, plot_two_groups

STYLES = (MethodStyle("COMMOD", "#D55E00", "circle"), MethodStyle("Oracle ○", "#CC79A7", "square", hollow=True))
SEGMENTS = ("accuracy", "change_rate")
CHARTS = [
    (plot_pareto, {}),
    (plot_pareto, {"view": "changes"}),
    (plot_changes, {"better": "now yes", "worse": "now no"}),
    (plot_contributions, {}),
    (plot_methods, {"styles": STYLES, "strong": "COMMOD"}),
    (plot_methods, {"styles": STYLES, "strong": "COMMOD", "axes": ("change_rate", "fairness"), "crosses": True}),
    (plot_methods, {"styles": STYLES, "strong": "COMMOD", "axes": SEGMENTS, "most_changes": 0.3, "height": 250}),
    (plot_who_changed, {"groups": ("A", "B")}),
    (plot_calibration, {"styles": STYLES, "strong": "COMMOD"}),
    (plot_curve, {"x_title": "P", "y_title": "A", "deployed": "f", "here": "g", "asked": "path", "setting": "λ_fair"}),
    (plot_paying, {"better": "better", "worse": "worse", "title": "People"}),
    (plot_limits, {"styles": STYLES, "strong": "COMMOD", "fairness_range": (0.0, 1.0), "upward": True}),
    (plot_scatter, {"styles": STYLES, "x_title": "P", "y_title": "A"}),
    (plot_record, {}),
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
            if channel and channel.get("type") == "quantitative" and "title" in channel:
                assert channel["title"]
        assert part is spec or "data" not in part, "a layer with data of its own could not be redrawn"
    titles = [p["encoding"][a].get("title") for p in walk(spec) for a in ("x", "y") if a in p.get("encoding", {})]
    assert any(titles)


def test_the_picture_of_the_limits_has_every_selection_once_and_fairer_is_up():
    given = {"styles": STYLES, "strong": "COMMOD", "fairness_range": (0.0, 0.6)}
    for upward in (True, False):
        spec = plot_limits(pd.DataFrame(), **given, upward=upward).to_dict()
        assert all(len(param["views"]) == 1 for param in spec["params"])  # Vega refuses a second of the same name
        region = spec["layer"][0]["encoding"]
        assert region["y2"]["datum"] == (0.0 if upward else 0.6)
        assert region["y"]["scale"]["reverse"] == (not upward)


def test_people_in_rows_have_no_axes():
    assert (
        plot_two_groups(pd.DataFrame(), right="right", wrong="wrong", no="no").to_dict()["encoding"]["x"]["axis"]
        is None
    )


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


def points():
    rows = [
        {
            "label": label,
            "fairness": 0.1 * i,
            "accuracy": 0.8 - 0.01 * i,
            "change_rate": 0.02 * i,
            "settings": "λ 1",
            "id": i,
            "best": i > 2,
            "chosen": i == 3,
            "fairness_q": 1 + i % 4,
        }
        for label in ("COMMOD", "Oracle ○")
        for i in range(8)
    ]
    return pd.DataFrame(rows)


def test_a_chart_becomes_a_file():
    chart = plot_methods(points(), styles=STYLES, strong="COMMOD", axes=("change_rate", "fairness"))
    png, svg = (export_chart(chart, kind, width=700) for kind in ("png", "svg"))
    assert png.startswith(b"\x89PNG")
    assert svg.startswith(b"<svg")
    assert b"Decisions changed" in svg
    assert b"COMMOD" in svg
    assert b">undefined<" not in svg


def test_a_click_chooses_in_the_trade_off_only():
    how = {"styles": STYLES, "strong": "COMMOD"}
    every = (("change_rate", "fairness"), SEGMENTS)
    asked = [plot_methods(pd.DataFrame(), **how, axes=axes).to_dict()["params"] for axes in every]
    assert [{param["name"] for param in params} for params in asked] == [{"pick", "near", "named"}, {"near", "named"}]


def test_methods_that_meet_in_one_picture_can_be_told_apart():
    from commod.dashboard.views.methods import styles_of
    from commod.models.competitors import METHODS, available_methods

    for criterion in ("demographic_parity", "equalized_odds"):
        names = available_methods(criterion)
        styles = dict(zip(names, styles_of(names), strict=True))
        assert len({(style.colour, style.shape, style.hollow) for style in styles.values()}) == len(styles)
        for name, style in styles.items():
            shades = (palette.COMMOD,) if name == "commod" else palette.FAMILIES[METHODS[name].family]
            assert style.colour in shades
    colours = [colour for shades in palette.FAMILIES.values() for colour in shades]
    assert len({palette.COMMOD, *colours}) == len(colours) + 1


@pytest.mark.parametrize("seed", range(30))
def test_names_beside_a_picture_never_overlap_and_stay_in_it(seed):
    rng = np.random.default_rng(seed)
    count, room, gap = int(rng.integers(1, 26)), 300.0, 14.0
    wanted = (rng.random(count) * room * rng.choice([0.05, 0.5, 1.0])).tolist()
    places = spread_labels(wanted, room, gap)
    fits = min(gap, room / max(1, count - 1))
    ordered = sorted(places)
    assert all(above - below >= fits - 1e-9 for below, above in pairwise(ordered))
    assert min(places) >= -1e-9
    assert max(places) <= room + 1e-9
    assert np.argsort(wanted, kind="stable").tolist() == np.argsort(places, kind="stable").tolist()
    assert spread_labels(wanted, room, gap) == places
    if count == 1:
        assert places == wanted
    far = [20.0 * i for i in range(10)]
    assert spread_labels(far, room, gap) == pytest.approx(far)  # who has room stays where it wants to be


def test_a_name_stands_where_the_frontier_ends():
    frame = pd.DataFrame(
        [("A", 0.2, 0.8, True), ("A", 0.9, 0.7, True), ("A", 0.95, 0.5, False), ("B", 0.4, 0.6, True)],
        columns=["label", "fairness", "accuracy", "best"],
    )
    named = with_labels(frame, x="fairness", y="accuracy", ends=(0.5, 0.8), height=400)
    assert named.index[named["label_at"].notna()].tolist() == [1, 3]  # the last that no other of the method beats
    assert named["label_at"][1] == pytest.approx(frame["accuracy"][1])
    for upward in (True, False):  # the fairer is above
        drawn = plot_methods(points(), styles=STYLES, strong="COMMOD", axes=("change_rate", "fairness"), upward=upward)
        assert drawn.to_dict()["layer"][0]["encoding"]["y"]["scale"]["reverse"] != upward


def test_names_have_a_place_where_all_models_are_equally_accurate():
    frame = pd.DataFrame(
        [("A", 0.2, 0.8, True), ("B", 0.4, 0.8, True)], columns=["label", "fairness", "accuracy", "best"]
    )
    named = with_labels(frame, x="fairness", y="accuracy", ends=(0.8, 0.8), height=400)
    assert np.isfinite(named["label_at"]).all()
