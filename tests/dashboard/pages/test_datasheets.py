"""The page Data: the sheet of each data set, and the sizes of its groups, however it is grouped."""

import pytest

from commod import load_task
from tests.dashboard.driving import fine, run, tables, words

pytestmark = pytest.mark.quick


def test_groups_are_those_of_the_setting_at_first():
    app = fine(run("pages/data.py", data="adult", groups="race_sex"))
    assert app.selectbox(key="groups_of_adult").value == "race_sex"
    sizes = load_task("adult.race_sex").sensitive.value_counts().tolist()
    assert [row[1] for row in tables(app)["Sizes of the groups"]] == [f"{size:,}" for size in sizes]
    fine(app.selectbox(key="groups_of_adult").set_value("").run())
    assert [tile.label for tile in app.metric] == ["Female", "Male"]


def test_features_stand_before_the_source_of_the_file():
    app = fine(run("pages/data.py", data="german"))
    shown = tables(app)["Features"]
    assert ["Amount (DM)", "250 to 18,424", "Amount of the credit."] in shown
    assert len(shown) == len(load_task("german").spec.features)
    assert words(app).index("What to know first") < words(app).index("sha256")
    bodies = [element.proto.body for element in app.main if element.type in ("html", "markdown")]
    assert next(i for i, body in enumerate(bodies) if "Amount of the credit." in body) < next(
        i for i, body in enumerate(bodies) if "sha256" in body
    )
