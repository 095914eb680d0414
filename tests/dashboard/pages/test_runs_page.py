"""The page of saved runs: pinned, compared, renamed, removed and put back, opened, exported and imported."""

import json
import re
from dataclasses import replace

import pytest

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of
from commod.dashboard.model import training
from commod.dashboard.state import saved_runs
from commod.dashboard.state.runs_file import MAX_RUNS, Run, write_runs
from commod.dashboard.state.settings import defaults
from commod.metrics.figures import FIGURES
from tests.dashboard.driving import figure, fine, run, slider, words

PAGE, TABLE = "pages/runs.py", "The runs side by side"


def german(name, **changes):
    return name, replace(defaults("german"), **changes)


# Of one scene, and quick.
PAIR = (german("Strong"), german("Weak", lambda_fair=2.0))


def press(app, label):
    return fine(next(b for b in app.button if b.label == label).click().run())


def name_field(app):
    return next(field for field in app.text_input if field.label == "Name")


def told(app):
    """What the page says of the last action, of the link and of the file, as it is read."""
    return [m.value.replace("\\", "") for m in (*app.success, *app.error, *app.warning)]


def html(app, start):
    """The piece of the page whose table is called `start`, or the one that begins so."""
    return next(e.proto.body for e in (*app.main.get("html"), *app.main.markdown) if start in e.proto.body)


def cells(app, caption):
    """Rows of a table as text."""
    rows = re.findall(r"<tr>(.*?)</tr>", html(app, f'aria-label="{caption}'), re.S)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in rows]


def saved(app):
    return [run.name for run in app.session_state["held_runs"].runs]


def test_a_model_is_pinned_on_explore_and_found_among_the_runs():
    app = fine(run(data="german", lambda_fair="1.5", depth="5"))
    app.session_state["pin_here"] = True
    name_field(app.run()).set_value("Gentle $x$ <b>")
    press(app, "Pin this model")
    assert "Saved as “Gentle \\$x\\$ \\<b\\>”." in words(app)
    assert not [b for b in app.button if b.label == "Pin this model"]
    slider(app, "lambda_fair").set_value(3.0).run()
    assert name_field(app).value == "German credit: λ_fair 3"
    p_rule = figure(app, "P-Rule")
    press(app, "Pin this model")
    app = fine(app.switch_page(PAGE).run())
    assert saved(app) == ["Gentle $x$ <b>", "German credit: λ_fair 3"]
    assert "runs" not in app.query_params
    assert cells(app, TABLE)[0] == ["", "f", "A: Gentle $x$ &lt;b&gt;", "B: German credit: λ_fair 3"]
    rows = {row[0]: row[1:] for row in cells(app, TABLE)}
    a, b = (float(rows["Accuracy"][i].partition("%")[0]) for i in (1, 2))
    step = f"accuracy {FIGURES['accuracy'].show_difference((b - a) / 100)}"
    assert step in words(app).partition("**Instead of A:** ")[2]
    assert rows["λ_fair"] == ["–", "1.5", "3"]
    assert rows["P-Rule"][2].startswith(f"{p_rule} [")
    assert "<b>" not in "".join(e.proto.body for e in app.main.get("html"))


def test_the_page_without_runs_offers_to_pin_and_says_when_it_is_there():
    app = fine(run(PAGE, data="german"))
    assert "Pin a model here or on Explore" in words(app)
    name_field(app).set_value("   ")
    press(app, "Pin this model")
    assert told(app) == ["Pinned as “German credit: λ_fair 5”."]
    app.session_state["runs_inside"] = True
    slider(app.run(), "depth").set_value(5).run()  # another look at the same model
    assert any("is saved as “German credit" in caption.value for caption in app.caption)


@pytest.fixture(scope="module")
def mixed():
    """Two of a scene, another base model, another criterion on another split, and a fifth that is not compared."""
    others = german("Tree", f="random_forest"), german("EO", fairness="equalized_odds", seed=3)
    return fine(run(PAGE, pinned=(german("Old", k=5), german("A"), german("B", lambda_fair=2.0), *others)))


def test_four_side_by_side(mixed):
    assert mixed.multiselect(key="runs_compared").value == ["A", "B", "Tree", "EO"]
    rows = cells(mixed, TABLE)
    assert rows[0] == ["", "A: A", "B: B", "C: Tree", "D: EO"]  # no column for f, of which there are three
    assert ["λ_fair", "5", "2", "5", "5"] in rows
    assert "λ_ratio" not in [row[0] for row in rows]
    text = mixed.info[0].value
    assert "different splits" in text
    assert "different base models" in text
    assert "different criteria" in text


def test_concepts_and_trees_are_drawn_when_somebody_asks():
    app = fine(run(PAGE, pinned=PAIR))
    assert not [e for e in app.main.get("html") if "cx-beside" in e.proto.body]
    app.session_state["runs_inside"] = True
    fine(app.run())
    assert html(app, "cx-beside").count("<section>") == 2
    assert html(app, 'data-testid="tree"').count('data-testid="tree"') == 2


def test_figures_are_those_of_the_fit(mixed):
    result = result_of(tasks.fit(replace(defaults("german"), lambda_fair=2.0)))
    row = result.figures.loc["accuracy"]
    shown = {line[0]: line[2] for line in cells(mixed, TABLE)}
    of_g, of_f = shown["Accuracy"].split("\n")
    assert of_g == f"{row['g']:.1%} [{100 * row['g_low']:.1f}, {100 * row['g_high']:.1f}]"
    assert of_f.startswith(f"f: {row['f']:.1%} [")
    lowered = result.changes.iloc[1]
    assert shown["Older than 25: now “bad risk”"] == f"{lowered['lowered']:.0f} of {lowered['count']:.0f}"
    kept = cells(mixed, "All saved runs")
    assert all("…" not in cell for line in kept for cell in line)  # also of the one that is not compared


def test_one_f_on_one_split_has_one_interval(mixed):
    rows = {line[0]: line[1:] for line in cells(mixed, TABLE)}
    for title in ("Accuracy", "P-Rule", "Disparate mistreatment"):
        strong, weak, forest, other_split = (cell.split("\n")[1] for cell in rows[title])
        assert strong == weak
        assert strong not in (forest, other_split)


def test_long_names_are_headings_in_full():
    long = "A model of which there is much to be said before they differ"
    names = [f"{long[:57]} {i}" for i in (1, 2)]
    app = fine(run(PAGE, pinned=(german(names[0]), german(names[1], lambda_fair=2.0))))
    assert cells(app, TABLE)[0] == ["", "f", f"A: {names[0]}", f"B: {names[1]}"]


def test_overlap_of_the_same_people_and_why_there_is_none(mixed):
    a, b = (result_of(tasks.fit(s)).changed_test for s in (defaults("german"), weak()))
    both, either = (a & b).sum(), (a | b).sum()
    told = words(mixed).replace("\\", "")
    assert (
        f"- A: A and B: B: of the {either} people whom either changes, both change {both} ({both / either:.0%})."
        in told
    )
    assert "A: A and C: Tree" in told
    assert "D: EO:" not in told
    assert "Other pairs differ in data set, groups or split: their test people are not the same." in told


def weak():
    return replace(defaults("german"), lambda_fair=2.0)


def test_one_chooses_what_is_compared():
    app = fine(run(PAGE, pinned=(*PAIR, german("k", k=5)), compared=["Strong", "k"]))
    chosen = app.multiselect(key="runs_compared")
    assert chosen.value == ["Strong", "k"]
    chosen.set_value(["Weak"]).run()
    assert cells(fine(app), TABLE)[0] == ["", "f", "A: Weak"]
    assert not [h for h in app.subheader if "same people" in h.value]
    app.multiselect(key="runs_compared").set_value([]).run()
    assert any("Choose up to four" in info.value for info in fine(app).info)


def test_rename_remove_put_back_and_open():
    app = fine(run(PAGE, pinned=PAIR))
    app.selectbox(key="runs_one").set_value("Strong").run()
    app.text_input(key="rename_0_Strong").set_value("Weak")
    press(app, "Rename it")
    assert told(app) == ["“Strong” is now called “Weak (2)”."]
    app.text_input(key="rename_0_Weak (2)").set_value(" \u202e ")
    next(b for b in app.button if b.label == "Rename it").click().run()
    assert "keeps its name" in told(app)[0]
    press(app, "Remove")
    assert saved(app) == ["Weak"]
    press(app, "Remove")
    press(app, "Put “Weak” back")
    assert saved(app) == ["Weak"]
    app.selectbox(key="runs_one").set_value("Weak").run()
    press(app, "Open in Explore")
    assert app.title[0].value == "Fairer, at what price?"
    assert slider(app, "lambda_fair").value == 2.0
    assert app.query_params["data"] == "german"


def test_a_button_that_is_pressed_twice_does_nothing_the_second_time(monkeypatch):
    empty = saved_runs.Shelf()
    monkeypatch.setattr(saved_runs, "shelf", lambda: empty)
    saved_runs.remove("gone already")
    saved_runs.put_back()
    assert empty == saved_runs.Shelf()


@pytest.mark.parametrize("page", ["app.py", PAGE])
def test_a_link_that_held_runs_says_so_and_opens_the_rest(page):
    app = fine(run(page, data="german", k="3", runs="Strong*german~Weak*german*lambda_fair-2", compare="1,2"))
    assert told(app) == ["This link held saved runs. Ask for the file instead."]
    assert (app.query_params["data"], app.query_params["k"]) == ("german", "3")
    assert not {"runs", "compare"} & set(app.query_params)


def test_a_run_that_fails_does_not_take_the_others_down(monkeypatch):
    made = training.train_model

    def fail(scene, settings, *more):
        if settings.lambda_fair == 7.0:
            raise RuntimeError("secret path /srv/app")
        return made(scene, settings, *more)

    monkeypatch.setattr(training, "train_model", fail)
    app = run(PAGE, pinned=(german("Bad", lambda_fair=7.0), *PAIR))
    assert not app.exception
    assert [e.value for e in app.error] == [
        "“Bad” could not be trained\\: it is our fault, not yours. The others are shown."
    ]
    assert cells(app, TABLE)[0] == ["", "f", "B: Strong", "C: Weak"]
    assert cells(app, "All saved runs")[1][3] == "…"


def test_a_name_that_is_an_address_does_not_become_a_link():
    app = fine(run(PAGE, data="german", pinned=[german("www.evil.example http://a.b x@y.z")]))
    said = " ".join(text.value for text in (*app.main.markdown, *app.caption))
    assert "www\u2060.evil.example http\u2060\\://a.b x\u2060@y.z" in said


def test_a_full_shelf():
    app = run(pinned=[german(f"{seed}", seed=seed) for seed in range(MAX_RUNS)], data="german", lambda_fair="1.5")
    app.session_state["pin_here"] = True
    assert "All 24 places for runs are taken." in words(fine(app.run()))


def upload(app, content, name="runs.json"):
    return app.file_uploader[0].upload(name, content, "application/json").run()


def exported(*runs, figures=None):
    return write_runs(runs, figures or {}).encode()


def test_import_joins_what_is_there():
    app = fine(run(PAGE, pinned=[german("Weak", lambda_fair=2.0)]))
    content = exported(Run("Weak", defaults("german")), Run("Same", weak()))
    upload(app, content)
    assert told(app) == ["1 run was taken from runs.json.", "“Same” is already saved as “Weak”."]
    assert saved(fine(app)) == ["Weak", "Weak (2)"]
    upload(app, b"[1, 2")
    assert told(app) == [
        "runs.json: The file is no JSON: choose one that holds a file of saved runs, as it was downloaded.",
    ]
    assert saved(app) == ["Weak", "Weak (2)"]


def test_the_export_holds_figures_of_all():
    app = fine(run(PAGE, pinned=PAIR, compared=["Strong"]))
    state = app.session_state["held_runs"]
    content = json.loads(write_runs(state.runs, state.figures))
    assert [each["name"] for each in content["runs"]] == ["Strong", "Weak"]
    expected = result_of(tasks.fit(weak())).figures
    assert content["runs"][1]["figures"]["g"]["p_rule"] == expected.loc["p_rule", "g"]
    assert [b.label for b in app.get("download_button")] == ["Export as JSON"]


@pytest.mark.slow
def test_runs_on_uploaded_data_stay_in_the_session_and_go_with_the_data():
    app = run("pages/your_data.py")
    press(app, "Open it here")
    press(app, "Use these data")
    app = fine(app.switch_page(PAGE).run())
    press(app, "Pin this model")
    assert "stay in this session" in app.info[0].value
    assert not app.get("download_button")
    app = fine(app.switch_page("pages/your_data.py").run())
    press(app, "Forget these data")
    app = fine(app.switch_page(PAGE).run())
    assert not saved(app)
    (line,) = told(app)
    assert line.startswith("1 run on uploaded data went with the data: “applicants.csv: λ_fair ")


def test_a_teachers_link_keeps_its_controls():
    app = fine(run(PAGE, data="german", controls="k", pinned=PAIR))
    assert next(b for b in app.button if b.label == "Open in Explore").disabled  # λ_fair is not theirs to move
    fine(app.selectbox(key="runs_one").set_value("Strong").run())
    assert not next(b for b in app.button if b.label == "Open in Explore").disabled


def test_undo_works_on_the_first_page_of_a_session():
    app = fine(run(PAGE, data="german"))
    assert "Undo" not in [button.label for button in app.button]
    before = slider(app, "lambda_fair").value
    fine(slider(app, "lambda_fair").set_value(2.0).run())
    press(app, "Undo")
    assert slider(app, "lambda_fair").value == before


def test_an_empty_page_offers_an_example():
    app = press(fine(run(PAGE, data="german")), "Show an example")
    assert saved(app) == ["As it opens", "Nobody loses"]
