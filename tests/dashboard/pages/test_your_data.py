"""Own data in the app: every page works on them, nobody else sees them, and they can be forgotten."""

import gc

import pytest

from commod.dashboard.jobs import service
from commod.dashboard.pages import your_data
from commod.dashboard.state.own_data import OwnData
from commod.dashboard.views.frame import PAGES
from commod.datasets import is_known, load_task
from commod.datasets.example import example_table
from tests.dashboard.driving import figure, fine, run
from tests.waiting import wait_until

PAGE = "pages/your_data.py"


def button(app, label):
    return next(b for b in app.button if b.label == label)


@pytest.fixture
def app():
    """The example in use."""
    app = run(PAGE)
    fine(button(app, "Open it here").click().run())
    return fine(button(app, "Use these data").click().run())


def name_of(app):
    return app.session_state["held_own_data"].name


def test_the_example_is_guessed_and_used(app):
    assert "What is what in applicants.csv" in [h.value for h in app.header]
    assert app.selectbox(key="own_target").value == "hired"
    assert app.selectbox(key="own_favourable_hired").value == "yes"
    assert app.selectbox(key="own_sensitive").value == "group"
    assert app.multiselect(key="own_features_number").value == ["experience_years", "test_score"]
    assert "In use: applicants.csv" in [h.value for h in app.header]
    assert app.metric[0].label == "group: A"


@pytest.mark.parametrize("page", [page for page in PAGES if page != PAGE])
def test_every_page_works_on_own_data(app, page):
    app.query_params["methods"] = "commod,lpp" if page == "pages/compare.py" else "commod"
    fine(app.switch_page(page).run())
    if page not in (
        "pages/paper.py",
        "pages/data.py",
        "pages/glossary.py",
        "pages/lesson.py",
    ):  # which have no sidebar of their own
        assert app.selectbox(key="set_data").value == name_of(app)
        assert app.selectbox(key="set_f").value == "scores"  # of a model that we never see
    if page == "pages/data.py":
        assert "applicants.csv, uploaded in this session" in app.main.markdown[0].value


def test_f_can_be_trained_instead(app):
    fine(app.switch_page("app.py").run())
    before = figure(app, "P-Rule")
    fine(app.selectbox(key="set_f").set_value("random_forest").run())
    assert figure(app, "P-Rule") != before
    app.session_state["python"] = True
    assert "without_scores" in app.run().code[0].value


def test_choosing_another_data_set_and_coming_back(app):
    fine(app.switch_page("app.py").run())
    own = name_of(app)
    fine(app.selectbox(key="set_data").set_value("german").run())
    assert app.selectbox(key="set_f").value == "logistic_regression"
    fine(app.selectbox(key="set_data").set_value(own).run())
    assert app.selectbox(key="set_f").value == "scores"


def test_another_session_gets_nothing_by_the_link(app):
    other = fine(run(data=name_of(app), f="scores"))
    assert other.selectbox(key="set_data").value == "law_school"
    assert "stay in the session of whoever uploaded them" in other.warning[0].value
    assert name_of(app) not in other.selectbox(key="set_data").options


def test_forgetting_leaves_no_trace(app):
    fine(app.switch_page("app.py").run())
    own = name_of(app)
    assert any(own in repr(key) for key in service.queue().cache)
    fine(app.switch_page(PAGE).run())
    fine(button(app, "Forget these data").click().run())
    assert "held_own_data" not in app.session_state
    assert not any(own in repr(key) for key in service.queue().cache)
    with pytest.raises(ValueError, match="There is no task"):
        load_task(own)
    fine(app.switch_page("app.py").run())
    assert app.selectbox(key="set_data").value == "law_school"


def test_a_session_that_ends_takes_its_data_with_it():
    own = OwnData(load_task("german"))
    name = own.name
    assert load_task(name).name == name
    del own
    gc.collect()
    wait_until(lambda: not is_known(name))


def test_a_wrong_file_is_told_and_the_draft_is_kept(app, monkeypatch):
    draft = app.session_state["held_your_data"]
    monkeypatch.setattr(your_data, "_draft", lambda: draft)
    your_data._read(b"\x89PNG....", "photo.csv")
    assert draft.problem.startswith("photo.csv: The file is a PNG picture")
    assert draft.table is not None


def test_a_choice_that_does_not_work_is_told_and_what_was_in_use_stays(app):
    own = name_of(app)
    fine(app.multiselect(key="own_features_number").set_value([]).run())
    fine(app.multiselect(key="own_features_category").set_value([]).run())
    app = button(app, "Use these data").click().run()
    assert "No feature is left" in app.error[0].value
    assert name_of(app) == own


def test_leaks_are_shown(monkeypatch):
    leaky = example_table().assign(copy=lambda frame: (frame["hired"] == "yes") * 1.0)
    monkeypatch.setattr("commod.dashboard.pages.your_data.example_table", lambda: leaky)
    app = run(PAGE)
    fine(button(app, "Open it here").click().run())
    fine(button(app, "Use these data").click().run())
    assert any("“copy” is the same as the outcome" in warning.value for warning in app.warning)


def test_what_was_chosen_is_found_again(app):
    fine(app.selectbox(key="own_target").set_value("education").run())
    fine(app.selectbox(key="own_target").set_value("hired").run())
    fine(app.multiselect(key="own_features_category").set_value(["city", "test_score"]).run())
    assert app.multiselect(key="own_features_number").value == ["experience_years"]  # one column is not both
    fine(app.radio[0].set_value("drop").run())
    keys = ("own_features_category", "own_features_number")
    left = [app.multiselect(key=key).value for key in keys]
    fine(app.switch_page("app.py").run())
    fine(app.switch_page(PAGE).run())
    assert [app.multiselect(key=key).value for key in keys] == left
    assert app.selectbox(key="own_target").value == "hired"
    assert app.radio[0].value == "drop"
