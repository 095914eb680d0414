"""The f of own data is trained apart: every page waits for it, says why it could not be, and goes on afterwards."""

import pytest

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.processes import TOO_LONG
from commod.dashboard.text.menu import PAGES
from commod.datasets.example import example_table
from commod.experiments.scene import trained_parts
from tests.dashboard.driving import fine, run

FIRST = {"app.py", "pages/limits.py", "pages/compare.py", "pages/your_data.py"}


@pytest.fixture(scope="module")
def uploaded():
    """A session with own data, on Explore; their f was logistic regression."""
    app = run("pages/your_data.py")
    content = example_table(400).drop(columns="model_score").to_csv(index=False).encode()
    fine(app.file_uploader[0].set_value(("people.csv", content, "text/csv")).run())
    fine(next(button for button in app.button if button.label == "Use these data").click().run())
    return fine(app.switch_page("app.py").run())


def explore(app):
    """On the uploaded data, whatever was looked at before."""
    app.switch_page("app.py").run()
    app.selectbox(key="set_data").set_value(app.session_state["held_own_data"].name).run()
    return fine(app.selectbox(key="set_f").set_value("logistic_regression").run())


@pytest.fixture
def trained(monkeypatch):
    """Scenes whose f is asked for; a forest takes too long."""
    asked = []

    def train(key, task):
        asked.append(key)
        if key.base_model == "random_forest":
            raise ValueError(TOO_LONG)
        return trained_parts(key, task)

    monkeypatch.setattr(tasks, "trained_parts", train)
    return asked


@pytest.mark.parametrize("page", [pytest.param(p, marks=() if p in FIRST else pytest.mark.slow) for p in PAGES])
def test_a_page_says_why_f_could_not_be_trained_and_goes_on_with_another(uploaded, trained, page):
    app = explore(uploaded)
    app.selectbox(key="set_f").set_value("random_forest").run()
    assert not app.exception
    assert TOO_LONG in app.error[0].value
    app.switch_page(page).run()
    assert not app.exception
    app.switch_page("app.py").run()
    fine(app.selectbox(key="set_f").set_value("logistic_regression").run())
    assert "random_forest" in {key.base_model for key in trained}


@pytest.mark.slow
def test_it_is_trained_once_for_all_that_is_asked_of_it_and_for_every_cut_off(uploaded, trained):
    app = explore(uploaded)
    assert "set_groups" not in {choice.key for choice in app.selectbox}  # data of one grouping have nothing to choose
    fine(app.selectbox(key="set_f").set_value("gradient_boosting").run())
    fine(app.number_input(key="set_threshold").set_value(0.6).run())
    fine(app.switch_page("pages/limits.py").run())
    assert [(key.base_model, key.threshold) for key in trained] == [("gradient_boosting", 0.5)]
