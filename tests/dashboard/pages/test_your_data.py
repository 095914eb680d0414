"""Own data in the app: every page works on them, nobody else sees them, and they can be forgotten."""

import gc
import gzip
import io
from types import SimpleNamespace

import pandas as pd
import pytest

from commod.dashboard.jobs import service, tasks
from commod.dashboard.pages.your_data import draft as drafts
from commod.dashboard.pages.your_data import page
from commod.dashboard.state.own_data import OwnData
from commod.dashboard.text.menu import PAGES
from commod.datasets import is_known, load_task
from commod.datasets.example import example_table
from commod.experiments.start import Start
from tests.dashboard.driving import figure, fine, run, tables
from tests.waiting import wait_until

PAGE = "pages/your_data.py"
QUICK_PAGE = "pages/take_home.py"  # which trains the model, and no others beside it


def button(app, label):
    return next(b for b in app.button if b.label == label)


def use_the_example():
    app = run(PAGE)
    fine(button(app, "Open it here").click().run())
    return fine(button(app, "Use these data").click().run())


@pytest.fixture
def app():
    """The example in use."""
    return use_the_example()


@pytest.fixture(scope="module")
def seen():
    """The same, to look at."""
    return use_the_example()


def name_of(app):
    return app.session_state["held_own_data"].name


def test_a_file_of_too_few_rows_is_told_so_at_once():
    app = run(PAGE)
    app.file_uploader[0].upload("tiny.csv", example_table(30).to_csv(index=False).encode(), "text/csv").run()
    (error,) = app.error
    assert error.value == f"{page.TOO_FEW} Bring more rows."
    assert not app.selectbox


def test_the_example_is_guessed_and_used(seen):
    app = seen
    assert "Columns of applicants.csv" in [h.value for h in app.header]
    assert app.selectbox(key="own_target").value == "hired"
    assert app.selectbox(key="own_favourable_hired").value == "yes"
    assert app.selectbox(key="own_sensitive").value == "group"
    uses = {row[0]: row[1] for row in tables(app)["The columns of the file"]}
    assert uses == {
        "applicant": "leave out",
        "experience_years": "number",
        "test_score": "number",
        "education": "category",
        "city": "category",
        "interview_language": "category",
        "group": "sensitive",
        "hired": "outcome",
        "model_score": "scores of f",
    }
    assert "In use: applicants.csv" in [h.value for h in app.header]
    assert "Explore these data" in [link.proto.label for link in app.get("page_link")]
    assert app.metric[0].label == "A"


# Of the pages, these are opened here, Explore in tests below, the others in the slow tests.
HERE = ("pages/people.py", "pages/data.py")


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.slow] * (page not in HERE)) for page in PAGES if page != PAGE]
)
def test_every_page_works_on_own_data(app, page):
    app.query_params["methods"] = "commod,lpp" if page == "pages/compare.py" else "commod"
    fine(app.switch_page(page).run())
    if page not in (
        "pages/paper.py",
        "pages/data.py",
        "pages/glossary.py",
        "pages/lesson.py",
        "pages/room.py",
    ):  # which have no sidebar of their own
        assert app.selectbox(key="set_data").value == name_of(app)
        assert app.selectbox(key="set_f").value == "scores"  # of a model that we never see
    if page == "pages/data.py":
        task = load_task(name_of(app))
        told = f"{len(task.y):,} rows to train and test on, {len(task.spec.features)} features."
        assert "applicants.csv, uploaded in this session" in app.main.markdown[0].value
        assert told in app.main.markdown[0].value
        assert "rows sealed" not in app.main.markdown[0].value  # so few that nobody is
        assert [row[0] for row in tables(app)["Features"]] == [feature.title for feature in task.spec.features]


@pytest.mark.slow  # tests/dashboard/test_own_f.py trains one, too
def test_f_can_be_trained_instead(app):
    fine(app.switch_page("app.py").run())
    before = figure(app, "P-Rule")
    fine(app.selectbox(key="set_f").set_value("logistic_regression").run())
    assert figure(app, "P-Rule") != before
    app.session_state["python"] = True
    assert "without_scores" in app.run().code[0].value


def test_choosing_another_data_set_and_coming_back(app):
    fine(app.switch_page(QUICK_PAGE).run())
    own = name_of(app)
    fine(app.selectbox(key="set_data").set_value("german").run())
    assert app.selectbox(key="set_f").value == "logistic_regression"
    fine(app.selectbox(key="set_data").set_value(own).run())
    assert app.selectbox(key="set_f").value == "scores"


def test_another_session_gets_nothing_by_the_link(seen):
    other = fine(run(data=name_of(seen), f="scores"))
    assert other.selectbox(key="set_data").value == "law_school"
    assert "stay in the session of whoever uploaded them" in other.warning[0].value
    assert name_of(seen) not in other.selectbox(key="set_data").options


def test_forgetting_leaves_no_trace(app):
    fine(app.switch_page(QUICK_PAGE).run())
    own = name_of(app)
    assert any(own in repr(key) for key in service.queue().cache._kept)
    fine(app.switch_page(PAGE).run())
    fine(button(app, "Forget these data").click().run())
    assert "held_own_data" not in app.session_state
    assert not any(own in repr(key) for key in service.queue().cache._kept)
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
    monkeypatch.setattr(drafts, "draft", lambda: draft)
    drafts.read(b"\x89PNG....", "photo.csv")
    assert draft.problem.startswith("photo.csv: The file is a PNG picture")
    assert draft.table is not None


def test_a_choice_that_does_not_work_is_told_and_what_was_in_use_stays(app):
    own = name_of(app)
    app = app.selectbox(key="own_rest").set_value("leave out").run()
    assert not app.exception
    assert told(app, "cannot be used. No feature is left")
    assert button(app, "Use these data").disabled
    assert name_of(app) == own


def upload(frame, name="people.csv"):
    app = run(PAGE)
    return fine(app.file_uploader[0].set_value((name, frame.to_csv(index=False).encode(), "text/csv")).run())


def told(app, words):
    return any(words in warning.value for warning in app.warning)


def test_a_leak_is_told_once_and_left_out_in_one_click():
    table = example_table(500)
    table.insert(1, "copy", (table["hired"] == "yes") * 1.0)
    app = upload(table)
    assert told(app, "Without “copy”")
    fine(button(app, "Use these data").click().run())
    assert len([warning for warning in app.warning if "“copy”" in warning.value]) == 1
    fine(button(app, "Leave it out").click().run())
    assert app.multiselect(key="own_features_leave out").value == ["copy"]
    assert not told(app, "“copy”")


def test_what_was_chosen_is_found_again(app):
    fine(app.selectbox(key="own_target").set_value("education").run())
    fine(app.selectbox(key="own_target").set_value("hired").run())
    fine(app.multiselect(key="own_features_category").set_value(["city", "test_score"]).run())
    fine(app.multiselect(key="own_features_leave out").set_value(["city"]).run())
    assert app.multiselect(key="own_features_category").value == ["test_score"]  # one column is not both
    fine(app.radio[0].set_value("drop").run())
    left = tables(app)["The columns of the file"]
    assert [row[1:3] for row in left if row[0] in ("city", "test_score")] == [
        ["category", "as you say"],
        ["leave out", "as you say"],
    ]
    fine(app.switch_page(QUICK_PAGE).run())
    fine(app.switch_page(PAGE).run())
    assert tables(app)["The columns of the file"] == left
    assert app.selectbox(key="own_target").value == "hired"
    assert app.radio[0].value == "drop"


@pytest.mark.slow
def test_a_few_columns_of_many_are_chosen():
    wide = example_table(300).assign(**{f"x{i}": range(i, 600 + i, 2) for i in range(90)})
    app = upload(wide)
    app.selectbox(key="own_rest").set_value("leave out").run()
    fine(app.multiselect(key="own_features_number").set_value(["x3", "test_score"]).run())
    assert "2 as numbers, 0 as categories, 94 left out" in " ".join(caption.value for caption in app.caption)
    fine(button(app, "Use these data").click().run())
    assert [f.name for f in app.session_state["held_own_data"].task.spec.features] == ["test_score", "x3"]


@pytest.mark.slow  # tests/dashboard/pages/test_groups_of_own_data.py cuts numbers into bands
def test_numbers_are_cut_into_outcome_and_groups(app):
    fine(app.selectbox(key="own_target").set_value("test_score").run())
    fine(app.number_input(key="own_target_cut_test_score").set_value(70.0).run())
    fine(next(each for each in app.button if each.label.startswith("test\\_score is ≥ 70")).click().run())
    assert app.selectbox(key="own_favourable_test_score").value == "≥"
    fine(app.number_input(key="own_target_cut_test_score").set_value(60.0).run())
    assert app.selectbox(key="own_favourable_test_score").value == "≥"  # the side stays
    fine(app.number_input(key="own_target_cut_test_score").set_value(70.0).run())
    fine(app.selectbox(key="own_sensitive").set_value("experience_years").run())
    fine(app.number_input(key="own_sensitive_cut_experience_years").set_value(6.0).run())
    fine(
        app.selectbox(key="own_scores_test_score_experience_years").set_value("").run()
    )  # the scores are of being hired
    fine(button(app, "Use these data").click().run())
    task = app.session_state["held_own_data"].task
    assert task.spec.outcomes == ("test_score: < 70", "test_score: ≥ 70")
    assert "Good values of “test_score”: ≥ 70." in task.spec.filter
    assert set(task.groups) == {"experience_years: < 6", "experience_years: ≥ 6"}


def test_scores_out_of_100_are_offered_and_divided():
    app = upload(example_table(500).assign(model_score=lambda frame: 100 * frame["model_score"]))
    scores = app.selectbox(key="own_scores_hired_group")
    assert "its scores are in “model_score”, out of 100" in scores.options
    fine(scores.set_value("model_score").run())
    fine(button(app, "Use these data").click().run())
    assert app.session_state["held_own_data"].task.X["model_score"].max() <= 1


@pytest.mark.slow
def test_the_same_person_in_train_and_test_is_told_and_can_be_helped():
    visits = example_table(600).drop(columns="applicant")
    visits.insert(0, "person_id", [7 * (i // 2) for i in range(600)])
    visits.insert(1, "seen", ["2020-01-01"] * 300 + ["2021-06-30"] * 300)
    app = upload(visits)
    assert told(app, "600 rows share their")
    assert len(app.selectbox(key="own_split").options) == 3
    fine(app.selectbox(key="own_split").set_value("person person_id").run())
    assert not told(app, "share their")
    fine(button(app, "Use these data").click().run())
    task = app.session_state["held_own_data"].task
    train, test = task.split()
    assert not set(task.person[train.X.index]) & set(task.person[test.X.index])
    fine(app.selectbox(key="own_split").set_value("time seen").run())
    fine(button(app, "Use these data").click().run())
    assert app.session_state["held_own_data"].task.split()[1].X.index.min() >= 300


def test_excel_and_gzip_are_taken_and_an_old_workbook_is_told_what_to_do():
    app = run(PAGE)
    app = (
        app.file_uploader[0]
        .set_value(("people.xlsx", b"\xd0\xcf\x11\xe0" + bytes(99), "application/vnd.ms-excel"))
        .run()
    )
    assert "save it as .xlsx" in app.error[0].value
    target = io.BytesIO()
    example_table(100).to_excel(target, engine="xlsxwriter")  # with an index, which has no name
    app = fine(app.file_uploader[0].set_value(("people.xlsx", target.getvalue(), "application/octet-stream")).run())
    assert "Columns of people.xlsx" in [h.value for h in app.header]
    assert "numbers the rows" in app.info[0].value
    packed = gzip.compress(example_table(100).to_csv(index=False).encode())
    app = fine(app.file_uploader[0].set_value(("people.csv.gz", packed, "application/gzip")).run())
    assert "Columns of people.csv.gz" in [h.value for h in app.header]


def test_what_was_done_is_a_table(seen):
    rows = tables(seen)["What was done to the data"]
    assert [row[0] for row in rows] == ["test_score", "education"]
    assert rows[1][2] == "Missing, now a level of their own"
    assert rows[1][1] == f"{example_table(500)['education'].isna().sum()} cells"


def test_what_is_wrong_with_the_opening_model_is_said_first_and_the_papers_form_is_a_click_away(monkeypatch):
    opened = Start({"lambda_fair": 4.0, "update": "decisions"}, "So it opens.", {"lambda_fair": 2.0, "update": "ratio"})
    monkeypatch.setattr(tasks.start, "function", lambda scene, fairness, report=None: opened)
    monkeypatch.setattr(page, "concerns_in_words", lambda result: [f"Trouble at {result.settings.lambda_fair:g}."])
    app = use_the_example()
    assert told(app, "Trouble at 4.")
    assert app.query_params["update"] == "decisions"
    app = button(app, "Open with the paper's form").click().run()
    fine(app)
    assert (app.query_params["update"], app.query_params["lambda_fair"]) == ("ratio", "2")


def test_the_rows_of_a_spreadsheet_add_up_and_an_impossible_age_is_named():
    people = example_table(1500).drop(columns="model_score").astype(object)
    people.loc[3, ["group", "hired"]], people.loc[4, "group"], people.loc[5, "hired"] = None, None, None
    people["age"] = [999, *(20 + number % 50 for number in range(1499))]
    sums = {"applicant": "Total", "age": 22_000}
    app = upload(pd.concat([people, pd.DataFrame([{}, sums])], ignore_index=True))
    assert told(app, "“age” holds 999 in 1 row")
    fine(button(app, "Use these data").click().run())
    own = app.session_state["held_own_data"].task
    out = sum(step.count for step in app.session_state["held_your_data"].done if "left out" in step.what)
    assert out == 2
    assert len(own.y) + len(own.sealed) + out == 1500
    groups = sum(int(metric.value.replace(",", "")) for metric in app.metric)
    assert groups + int((own.sensitive < 0).sum()) == len(own.y)


def test_a_loss_of_accuracy_is_said_first():
    result = SimpleNamespace(path=pd.DataFrame({"accuracy": [0.7, 0.68, 0.6]}), keep=lambda name, made: [])
    assert page._first(result)[0].startswith(
        "The model that the pages open with is right for 60.0% of people, f for 70.0%"
    )
    result.path = pd.DataFrame({"accuracy": [0.7, 0.66]})
    assert page._first(result) == []
