"""Later people on the page: held-out ones, files for the model of the sliders, and a model that is only a file."""

import json
import re
from datetime import date
from functools import cache

import pytest

from commod.dashboard.jobs import processes, tasks
from commod.dashboard.jobs.processes import TOO_LONG
from commod.dashboard.jobs.queue import SILENT
from commod.dashboard.model.training import fit_result
from commod.dashboard.pages.later import files as later_files
from commod.dashboard.state import own_data
from commod.dashboard.state.settings import defaults
from commod.datasets.example import example_table
from commod.decisions import RULES, Requirements, Signature, facts_of, make_record, record_json
from commod.metrics.figures import FIGURES
from commod.models import Commod
from commod.monitoring import batch_of, watch_files
from tests.dashboard.driving import captions, figure, fine, run, tables, words
from tests.dashboard.hostile import MARKUP, PICTURE, let_through
from tests.dashboard.jobs.test_processes import made
from tests.fuzzing import readable
from tests.uploads.test_reading import WRONG, wrong

PAGE = "pages/later.py"


@cache
def result():
    return fit_result(defaults("law_school"))


@cache
def model():
    return result().as_json().encode()


@cache
def batch(drop=()):
    rows = batch_of(result().task, result().scene.test.take(range(0, 800)))
    return rows.drop(columns=list(drop)).to_csv(index=False).encode()


@cache
def expected():
    """What the library finds of both files."""
    return watch_files(model(), batch())


def decision(requirements=None):
    scene = result().scene
    facts = facts_of(scene, result().decisions, result().cell)
    who = Signature(f"Ada {MARKUP}", "Dean", "Fair enough", date(2026, 1, 1), date(2026, 7, 1), {})
    asked = requirements or Requirements(p_rule=0.3, changed=0.5)
    record = make_record(who, scene, result().decisions, result().cell, "demographic_parity", asked, facts)
    return record_json(record).encode()


def choose(app, **chosen):
    """Press one of the choices above."""
    for name, value in chosen.items():
        app.segmented_control(key=f"later_{name}").set_value(value)
    return app.run()


def bring(app, what, content, name=""):
    name = name or ("batch.csv" if what == "batch" else f"{what}.json")
    uploader = next(each for each in app.file_uploader if each.key.startswith(f"later_{what}_"))
    return uploader.set_value((name, content, "text/plain")).run()


def errors(app):
    assert not app.exception
    return [error.value for error in app.error]


def with_files():
    """A model that is a file, beside its batch."""
    app = choose(run(PAGE), source="file")
    return fine(bring(bring(app, "model", model(), "model.json"), "batch", batch(), "batch.csv"))


def test_held_out_people():
    app = fine(choose(run(PAGE), people="held_out"))
    found = result().held_out(False)
    row = found.figures.set_index(["figure", "model"]).loc[("p_rule", "g")]
    assert figure(app, "P-Rule") == " → ".join(FIGURES["p_rule"].show(row[when]) for when in ("old", "new"))
    assert found.people + found.old_people == len(result().scene.test)
    assert "cut in two at random" in captions(app)


def test_a_shift_on_purpose_is_said_and_seen():
    app = fine(run(PAGE))
    assert "left out on purpose" in captions(app)
    assert "The score of f is distributed quite differently than before" in words(app)
    assert "of the 10 columns and scores are distributed differently" in words(app)
    assert app.warning[0].value.startswith("**Demo: Not as it was.** 10 of 32 figures moved more than chance explains")
    assert figure(app, "Decided “passes the bar”\\: everyone") == "54.4% → 34.1%"
    assert figure(app, "P-Rule") == "0.656 → 0.762"
    said = {each.label: (each.delta, each.proto.delta_description) for each in app.metric}
    assert said["P-Rule"] == ("+0.106", "chance may explain it")
    later = fine(run(PAGE, req="p_rule:0.8"))
    assert later.warning[0].value.startswith("**Demo: Not as it was.** 10 of 32")
    said = later.warning[0].value.replace("\\", "")
    assert "What is required: cannot tell. P-Rule 0.762, at least 0.8 required" in said


def test_a_batch_for_the_model_of_the_sliders():
    app = fine(choose(run(PAGE), people="file"))
    assert "lsat, ugpa" in captions(app)
    app = fine(bring(app, "batch", batch(), "later.csv"))
    assert "the 800 new people" in captions(app)
    assert f"{len(result().scene.test):,} people tested on" in captions(app)


def test_a_column_may_be_called_as_the_app_shows_it():
    app = fine(choose(run(PAGE), people="file"))
    fine(bring(app, "batch", batch().replace(b"lsat", b"LSAT score", 1), "later.csv"))
    assert "the 800 new people" in captions(app)
    fine(bring(app, "batch", batch(("race",)), "blind.csv"))
    assert "blind.csv" in captions(app)
    assert "later.csv" not in captions(app)


@pytest.fixture(scope="module")
def app():
    """A session with a model that is a file, its batch and a decision."""
    return fine(bring(with_files(), "decision", decision(), "decision.json"))


def test_a_model_that_is_only_a_file_is_never_trained(monkeypatch):
    def trained(*_, **__):
        raise AssertionError("something was trained")

    model(), batch()
    monkeypatch.setattr(Commod, "fit", trained)
    monkeypatch.setattr("commod.experiments.scene.train_base_model", trained)
    app = with_files()
    assert "on the 800 new people" in captions(app)
    assert "model.json, tested on 1,376 people" in captions(app)


@pytest.mark.parametrize("part", ["figures", "drift"])
def test_every_table_shows_all_its_rows(app, part):
    app.session_state[f"later_{part}"] = True
    found = tables(fine(app.run()))
    title = next(title for title in found if "then and now, as a table" in title)
    assert len(found[title]) == len(getattr(expected(), part))
    app.session_state[f"later_{part}"] = False
    assert not let_through(app)


def test_what_is_required_and_who_signed_it(app):
    found = tables(fine(app.run()))["What is required, then and now"]
    assert [row[1:3] for row in found] == [["✓ pass", "✓ pass"]] * 2
    said = [box.value for box in app.success]
    assert any("**Still true.** On these people 2 of 2 requirements hold." in text for text in said)
    assert any("This is the model of the decision" in text for text in said)
    assert not let_through(app)


def test_what_is_broken_is_said():
    asked = b'{"p_rule": 0.99, "again": 0.5}'
    app = bring(fine(choose(run(PAGE), people="held_out")), "decision", asked, "asked.json")
    assert not errors(app)
    assert app.warning[0].value.startswith("**Demo: Not true, as before.** a P-Rule of 0.99 or more")
    verdicts = [row[1:3] for row in tables(app)["What is required, then and now"]]
    assert verdicts == [["✗ fail", "✗ fail"], ["? cannot tell", "– does not apply"]]


def test_the_session_requires_what_it_requires(monkeypatch):
    from commod.dashboard.state import session

    monkeypatch.setattr(session, "requirements", lambda: Requirements(changed=0.5), raising=False)
    app = fine(run(PAGE))
    assert [row[0] for row in tables(app)["What is required, then and now"]] == [RULES["changed"].wanted(0.5)]


def test_without_groups_and_labels():
    app = choose(run(PAGE), source="file")
    app = fine(bring(bring(app, "model", model()), "batch", batch(("race", "pass_bar"))))
    assert [metric.label for metric in app.metric] == ["Decisions changed"]
    assert app.info[0].value.startswith("**Cannot tell.** The P-Rule cannot be measured on this batch.")
    assert len(app.info) == 3


def test_a_bad_file_takes_nothing_away(app):
    before = words(fine(app.run()))
    for what, content, said in (
        ("model", b'{"format": "commod-portable/99"}', "no model that can be used"),
        ("model", decision(), "This is the file of a decision, not of a model. Bring the model.json from Take home"),
        ("batch", b"lsat,ugpa,race\n1,2,3\n", "The batch has no columns"),
        ("batch", b"", "empty"),
        ("decision", decision().replace(b'"p_rule": 0.3', b'"p_rule": 0.1'), "changed since it was signed"),
        ("decision", b'{"p_rule": 0.8, "p_rule": 0.9}', "twice"),
    ):
        bring(app, what, content, f"bad{PICTURE}.{'csv' if what == 'batch' else 'json'}")
        told = errors(app)
        assert len(told) == 1, (what, told)
        assert said in told[0]
        assert words(app) == before
        assert not let_through(app)
        forget_problems(app)


def test_what_was_wrong_with_a_batch_goes_with_the_model_that_it_did_not_fit():
    app = fine(choose(run(PAGE), people="file"))
    content = json.loads(model().replace(b'"lsat"', b'"moon"'))
    bring(app, "batch", batch().replace(b"lsat", b"moon", 1), "moon.csv")
    assert "no column “lsat”" in errors(app)[0]
    fine(bring(choose(app, source="file"), "model", json.dumps(content).encode(), "moon.json"))


def test_a_decision_has_one_limit_of_size():
    """What the place for the file says, and what the sentence says that refuses one."""
    app = fine(run(PAGE))
    place = next(each for each in app.file_uploader if each.key.startswith("later_decision"))
    assert place.proto.max_upload_size_mb == 1
    bring(app, "decision", b" " * (2**20 + 1), "large.json")
    assert "has at most 1\\:" in errors(app)[0]


def later_files_of(app):
    return app.session_state["held_later"]


def forget_problems(app):
    here = later_files_of(app)
    for place in (here.model, here.batch, here.decision):
        place.problem, place.new = "", None  # a file that was refused is tried again beside another


def test_files_are_few_and_go_when_they_are_forgotten(monkeypatch):
    others = set(own_data._all_held)
    app = with_files()
    for count in range(3):
        bring(app, "batch", batch() + b"\n" * count, "again.csv")
    here = later_files_of(app)
    assert set(own_data._all_held) - others == {here.model.file, here.batch.file}
    assert here.is_own_data
    monkeypatch.setattr(own_data, "MAX_TABLES", 10)
    bring(app, "batch", batch() + b" ", "more.csv")
    assert "as much memory as they may" in errors(app)[0]
    monkeypatch.undo()
    content = here.batch.file
    fine(next(button for button in app.button if button.label == "Forget these files").click().run())
    assert not content.content
    assert not later_files_of(app).is_own_data


@pytest.mark.slow
def test_own_data_with_their_scores_and_a_file_of_the_same_columns():
    """Then all that was found goes with the data."""
    table = example_table(900)
    table["model_score"] = 100 * table["model_score"]
    app = run("pages/your_data.py")
    fine(app.file_uploader[0].set_value(("people.csv", table.head(700).to_csv(index=False).encode(), "text/csv")).run())
    fine(next(button for button in app.button if button.label == "Use these data").click().run())
    fine(app.switch_page(PAGE).run())
    assert "new people." in captions(app)
    app = fine(choose(app, people="file"))
    fine(bring(app, "batch", table.tail(200).to_csv(index=False).encode(), "later.csv"))
    assert "on the 200 new people" in captions(app) or "Left out of 200 rows" in captions(app)
    drifted = later_files_of(app).batch.file.found[1].drift.set_index("column")["drift"]
    assert drifted["The score of f"] == "stable"  # divided once, not twice
    fine(app.switch_page("pages/your_data.py").run())
    fine(next(button for button in app.button if button.label == "Forget these data").click().run())
    assert later_files_of(app).batch.file.found is None


def test_files_that_take_too_much_are_said_to(monkeypatch):
    def ended(task, *_):
        raise ValueError(TOO_LONG)

    monkeypatch.setattr(later_files, "result_of", ended)
    app = bring(choose(run(PAGE), source="file"), "model", model())
    assert errors(app) == [
        "model.json\\: These files take more time or memory than there is for them\\: bring a sample of the rows."
    ]


@pytest.mark.slow
def test_the_process_that_reads_a_batch_is_ended_after_its_time(monkeypatch):
    """For real, with a bound of a second and a batch that takes longer to read."""
    monkeypatch.setattr(processes, "MAX_SECONDS", 1)
    bounded = made(1, 0, 1)
    heading, rows = batch().split(b"\n", 1)
    content = heading + b"\n" + rows * 300  # 240,000 people
    (stage,) = tasks.watch("token", ("a", "b"), model(), content).stages(lambda: bounded)
    with pytest.raises(ValueError, match=re.escape(TOO_LONG)):
        stage.work(SILENT)
    bounded.close()


def hostile_model():
    """A sound model with markup in every name that a page shows."""
    content = json.loads(model())
    reference = content["reference"]
    reference["groups"] = [f"A {PICTURE}", f"B {MARKUP}"]
    reference["attributes"][0]["column"] = f"race {PICTURE}"
    reference["label"]["column"] = f"{MARKUP} label"
    reference["outcomes"] = [f"no {PICTURE}", f"yes ' + alert(1) + ' {MARKUP}"]
    for column in reference["columns"].values():
        if "levels" in column:
            column["levels"][0] = f"{PICTURE} {MARKUP}"
    content["about"] = {"data": f"{PICTURE} $x$", "f": MARKUP, "settings": PICTURE}
    return json.dumps(content).encode()


def test_hostile_names_are_text():
    app = choose(run(PAGE), source="file")
    bring(app, "model", hostile_model(), f"{PICTURE}{MARKUP}.json")
    assert not let_through(fine(app))
    text = batch().replace(b"race", f"race {PICTURE}".encode(), 1).replace(b"pass_bar", f"{MARKUP} label".encode(), 1)
    bring(app, "batch", text, f"{PICTURE}.csv")
    assert not let_through(fine(app))
    app.session_state["later_figures"] = app.session_state["later_drift"] = True
    assert not let_through(fine(app.run()))


@pytest.mark.slow
def test_a_corpus_of_broken_files_on_the_page():
    app = with_files()
    before = words(app)
    for case in WRONG:
        content, _ = wrong(case)
        if len(content) < 10_000_000:
            for what in ("batch", "model", "decision"):
                bring(app, what, content, f"{MARKUP}{PICTURE}.{'csv' if what == 'batch' else 'json'}")
                assert len(errors(app)) == 1, (case, what)
                readable(app.error[0].value.replace("\\", ""))
                assert words(app) == before
                assert not let_through(app)
                forget_problems(app)
