"""The What if page, headless."""

import re

import numpy as np
import pytest

from commod.datasets import load_task
from tests.dashboard.driving import captions, fine, run, tables, words

PAGE = "pages/what_if.py"


def lsat(app):
    return app.slider(key="what_if_law_school_lsat")


def press(app, key):
    return fine(app.button(key=key).click().run())


def scores(app):
    """f's chance and g's."""
    return re.search(r"Chance of “.*?”: (\S+%) by f, (\S+%) by g", words(app)).groups()


def test_the_page_opens_with_someone_who_changed():
    app = fine(run(PAGE))
    assert not app.warning
    assert app.query_params["person"] == "13"
    assert app.button(key="what_if_reset").disabled
    assert len(app.slider) + len(app.number_input) - 3 + len(app.selectbox) - 7 == 8  # a widget for each feature
    for kind in (app.slider, app.selectbox, app.number_input, app.button):
        assert all(widget.label for widget in kind)


def test_a_shift_is_in_the_sum():
    app = run(PAGE, update="affine")
    app.session_state["what_if_table"] = True
    first, *terms, last = tables(fine(app.run()))["The sum as a table"]
    assert first[2] == "+0.000"  # of f
    numbers = [[float(cell.replace("−", "-")) for cell in row[1:4]] for row in (first, *terms, last)]
    np.testing.assert_allclose(np.sum(numbers[:-1], axis=0)[:3], numbers[-1][:3], atol=0.005)


def test_an_edit_moves_g_and_reset_puts_the_person_back():
    app = run(PAGE)
    before = scores(app)
    fine(lsat(app).set_value(40.0).run())
    after = scores(app)
    assert all(a != b for a, b in zip(before, after, strict=True))
    assert "says “fails the bar”: **unchanged**" in words(app)
    assert "Before the edit of LSAT score: f says “" in words(app)
    assert lsat(app).label == "**LSAT score (points): was 28** :material/edit:"
    fine(app.selectbox(key="what_if_law_school_sex").set_value("female").run())
    assert "the edit of LSAT score, Sex" in words(app)
    press(app, "what_if_reset")
    assert scores(app) == before
    assert lsat(app).value == 28.0
    assert lsat(app).label == "LSAT score (points)"


def test_a_value_set_back_by_hand_is_no_edit():
    app = run(PAGE)
    lsat(app).set_value(40.0).run()
    fine(lsat(app).set_value(28.0).run())
    assert app.button(key="what_if_reset").disabled


def test_what_would_undo_the_change_does():
    app = run(PAGE)
    lsat_line = "**LSAT score** 28 → **30.2** (+2.2 points): both then say “fails the bar”."
    assert f"{lsat_line} **More merit hurts here.**" in words(app)
    press(app, "what_if_try_lsat")
    assert lsat(app).value == 30.2
    assert "**unchanged**" in words(app)
    lsat_line = "**LSAT score** 30.2 → back to **30.1** (−0.1 points): g then says “passes the bar”"
    assert f"{lsat_line}, f still “" in words(app)
    press(app, "what_if_try_lsat")
    assert "**changed for the better**" in words(app)


def test_another_person_by_list_by_number_and_at_random():
    app = run(PAGE)
    lsat(app).set_value(40.0).run()
    fine(app.number_input(key="what_if_person").set_value(3).run())
    assert app.query_params["person"] == "3"
    assert app.selectbox(key="what_if_pick").value == 3
    assert app.button(key="what_if_reset").disabled  # switching resets
    listed = app.selectbox(key="what_if_pick").options
    assert listed[0] == "No. 3: unchanged, passes the bar"
    assert listed[1] == "No. 13: now passes the bar"
    fine(app.selectbox(key="what_if_pick").set_value(13).run())
    assert app.number_input(key="what_if_person").value == 13
    press(app, "what_if_random")
    assert app.query_params["person"] != "13"
    assert "changed for the" in words(app)


def test_the_nearest_to_a_description():
    app = run(PAGE)
    lsat(app).set_value(40.0).run()
    press(app, "what_if_nearest")
    person = int(app.query_params["person"])
    assert person != 13
    assert f"Number {person} is nearest to number 13 as edited: " in app.info[0].value
    fine(app.number_input(key="what_if_person").set_value(13).run())
    assert not app.info


def test_the_link_brings_the_person_back():
    app = fine(run(PAGE, person="17"))
    assert app.number_input(key="what_if_person").value == 17
    assert app.query_params["person"] == "17"


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["-1", "1376", "nan", "<b>17</b>", "", "9" * 500, "²"])
def test_a_hostile_link_falls_back_and_says_so(wrong):
    app = fine(run(PAGE, person=wrong))
    assert "The link names nobody of this test part (its numbers are 0 to 1,375): number 13" in app.warning[0].value
    assert app.query_params["person"] == "13"
    fine(app.number_input(key="what_if_person").set_value(3).run())
    assert not app.warning


@pytest.mark.slow
@pytest.mark.parametrize("data", ["compas", "german"])
def test_other_data_begin_anew(data):
    app = run(PAGE)
    lsat(app).set_value(40.0).run()
    fine(app.selectbox(key="set_data").set_value(data).run())
    assert "Before the edit" not in words(app)
    assert "changed for the" in words(app)
    for button in [b for b in app.button if b.label == "Try it"][:1]:
        fine(button.click().run())
        assert "**unchanged**" in words(app)


def test_the_model_may_change_and_the_person_stays():
    app = run(PAGE, person="17")
    lsat(app).set_value(40.0).run()
    fine(app.select_slider(key="set_lambda_fair").set_value(0.0).run())
    f, g = scores(app)
    assert f == g
    assert (lsat(app).value, app.query_params["person"]) == (40.0, "17")
    assert any("No edit of a single feature" in info.value for info in app.info)
    assert app.button(key="what_if_random").disabled


def test_standardised_points_are_told_by_whom_one_is_higher_than():
    app = fine(run(PAGE))
    grades = app.slider(key="what_if_law_school_zgpa")
    _, test = load_task("law_school").split(0)
    share = (test.X["zgpa"] < grades.value).mean()
    assert grades.label == f"Cumulative grades (higher than {share:.0%} of students)"


@pytest.mark.with_shap
def test_shap_beside_it():
    app = run(PAGE)
    app.session_state["what_if_shap"] = True
    assert "COMMOD's bars are read from the model" in captions(fine(app.run()))
    fine(app.select_slider(key="set_lambda_fair").set_value(0.0).run())
    assert any("nothing to attribute" in info.value for info in app.info)


def test_scores_that_come_with_the_data_are_said_to_be_kept(monkeypatch):
    from dataclasses import replace

    from commod import Commod
    from commod.dashboard.model.training import fit_result
    from commod.dashboard.state.settings import Settings
    from commod.dashboard.views import model

    result = fit_result(Settings())
    scene = result.scene
    train, test = (part.X.assign(score=scene.f.predict_proba(part.X)[:, 1]) for part in (scene.train, scene.test))
    g = Commod("score", lambda_fair=3.0).fit(train, scene.train.y, sensitive_features=scene.train.sensitive)
    task = replace(scene.task, X=scene.task.X.assign(score=0.5))
    scene = replace(scene, f="score", task=task, test=replace(scene.test, X=test))
    kept = replace(result, scene=scene, g=g, ratio_test=np.asarray(g.ratio(test)))
    monkeypatch.setattr(model, "train", lambda settings, begun: kept)
    app = fine(run(PAGE, seed="91"))
    assert any("score of f is kept as it was" in caption.value for caption in app.caption)
    before = scores(app)
    fine(lsat(app).set_value(12.0).run())
    assert scores(app)[0] == before[0]
    assert scores(app)[1] != before[1]
