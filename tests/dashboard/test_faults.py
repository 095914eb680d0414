"""What goes wrong in one session stays in it, what is left behind goes, and damaged data files are named."""

import logging
import shutil
import threading
import time
from types import SimpleNamespace

import pytest

from commod.dashboard.jobs import service
from commod.dashboard.jobs.queue import Abandoned, JobStage, WorkQueue
from commod.dashboard.model import training
from commod.dashboard.pages.explore import page as explore
from commod.dashboard.pages.your_data.draft import TableDraft
from commod.dashboard.server import startup
from commod.dashboard.state import own_data
from commod.dashboard.text.menu import PAGES
from commod.datasets import damaged_files, data_directory, is_known, load_task, task_names
from commod.datasets.example import example_table
from commod.datasets.load import CHECKSUMS
from commod.experiments.results import read_result
from commod.uploads.reading import ReadTable
from tests.browsing import ROOT
from tests.dashboard.driving import figure, fine, run, slider
from tests.dashboard.hostile import elements, texts
from tests.waiting import PATIENCE, wait_until

# ---- the queue ----


@pytest.mark.parametrize(
    "wrong", [KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError, RecursionError, Abandoned]
)
def test_the_queues_threads_survive_any_exception(wrong):
    queue = WorkQueue(2)

    def fail(report):
        raise wrong

    for place in range(4):
        with queue.submit(place, JobStage(fail)) as ticket:
            wait_until(ticket.has)
            with pytest.raises(Exception):  # noqa: B017, PT011 - whatever it is, no BaseException
                ticket.result()
    with queue.submit("sound", JobStage(lambda report: 7)) as ticket:
        wait_until(ticket.has)
        assert ticket.result() == 7


def test_work_of_a_session_that_is_dropped_ends_and_the_next_in_line_begins():
    queue = WorkQueue(1)
    begun, ended = threading.Event(), threading.Event()

    def endless(report):
        begun.set()
        try:
            while True:
                report(0.1)
                time.sleep(0.002)
        finally:
            ended.set()

    session_state = {"ticket": queue.submit("endless", JobStage(endless))}
    assert begun.wait(PATIENCE)
    waiting = queue.submit("next", JobStage(lambda report: "served"))
    assert not waiting.wait(0.05)
    session_state.clear()
    assert ended.wait(PATIENCE)
    wait_until(waiting.has)
    assert waiting.result() == "served"


def test_a_search_is_given_up_when_its_session_is_closed():
    queue = WorkQueue(1)
    tickets = [
        queue.submit(place, JobStage(lambda report: [report(0.1) or time.sleep(0.002) for _ in range(5_000)]))
        for place in range(2)
    ]
    service._leave(tickets)  # what Streamlit calls when the connection ends
    for ticket in tickets:  # the one that ran, and the one that waited
        wait_until(ticket.has)
        with pytest.raises(Abandoned):
            ticket.result()


# ---- one session's fault ----


@pytest.mark.parametrize("wrong", [MemoryError, pytest.param(SystemExit, marks=pytest.mark.slow)])
def test_a_training_that_fails_in_one_session_harms_no_other(monkeypatch, wrong):
    made = training.train_model

    def fail_at_nine(scene, settings, path, report):
        if settings.lambda_fair == 9.0:
            raise wrong(f"in {ROOT}")
        return made(scene, settings, path, report)

    monkeypatch.setattr(training, "train_model", fail_at_nine)
    one, other = fine(run()), fine(run())
    before = figure(one, "P-Rule")
    slider(one, "lambda_fair").set_value(9.0).run()
    assert not one.exception
    assert len(one.error) == 1
    assert figure(one, "P-Rule") == before
    assert not any(str(ROOT) in text for _, _, text in texts(one))
    fine(slider(other, "lambda_fair").set_value(2.0).run())
    fine(slider(one, "lambda_fair").set_value(2.0).run())
    assert figure(one, "P-Rule") == figure(other, "P-Rule")


def test_a_section_that_fails_harms_no_other_session(monkeypatch):
    other = fine(run())
    with monkeypatch.context() as patched:
        patched.setattr(explore, "draw_changes", lambda result: 1 / 0)
        broken = run()
        assert len(broken.exception) == 1
    fine(slider(other, "lambda_fair").set_value(2.0).run())
    fine(broken.run())  # and it is well again as soon as the section is


# ---- uploaded data ----


def test_uploaded_data_go_when_their_session_was_closed_and_does_not_come_back(monkeypatch):
    clock, connected = SimpleNamespace(monotonic=lambda: clock.now, now=1000.0, sleep=time.sleep), set()
    monkeypatch.setattr(own_data, "time", clock)
    monkeypatch.setattr(own_data, "is_connected", lambda session: session in connected)
    gone, back = own_data.OwnData(load_task("german")), own_data.OwnData(load_task("german"))
    left, kept = {"a result": 1}, {"a result": 1}  # of their sessions
    drafts = [TableDraft("people.csv", ReadTable(example_table(100)), uploads=3, leaks=["a leak"]) for _ in range(2)]
    for held, session in zip((gone, back, *drafts), "gbgb", strict=True):
        held.session, held.state = session, {"g": left, "b": kept}[session]
    assert drafts[0].guesses is not None
    for seconds, here in ((300, ""), (0, "b"), (299, "")):
        clock.now += seconds
        connected = set(here)
        own_data.forget_closed(600)
    assert load_task(gone.name).name == gone.name
    clock.now += 1
    own_data.forget_closed(600)
    assert not is_known(gone.name)
    assert (left, kept) == ({}, {"a result": 1})
    assert drafts[0].table is None
    assert (drafts[0].uploads, drafts[0].leaks) == (4, [])  # a new, empty uploader
    assert "guesses" not in vars(drafts[0])
    assert not drafts[0].size
    assert is_known(back.name)
    assert drafts[1].size
    back.forget()
    drafts[1].forget()


def test_tables_are_counted_and_given_back():
    before = sum(held.size for held in own_data._all_held)
    own = own_data.OwnData(load_task("german"))
    assert sum(held.size for held in own_data._all_held) - before == own.size > 10_000
    own.forget()
    assert sum(held.size for held in own_data._all_held) == before


# ---- damaged data files ----


@pytest.fixture
def data_copy(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    shutil.copytree(data_directory(), folder)
    monkeypatch.setenv("COMMOD_DATA", str(folder))
    return folder


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def told(app):
    return " ".join(text for kind, _, text in texts(app) if kind in ("caption", "warning", "error", "markdown"))


def test_a_damaged_file_is_named_at_the_start_and_the_others_work(data_copy, caplog):
    flip(data_copy / "compas.parquet")
    assert list(damaged_files()) == ["compas"]
    with caplog.at_level(logging.ERROR):
        startup.name_damaged_files()
    assert "compas.parquet is damaged" in caplog.text
    assert "python -m data.rebuild" in caplog.text
    app = fine(run())
    assert "compas" not in app.selectbox(key="set_data").options
    assert "compas.parquet is damaged" in told(app).replace("\\", "")
    assert str(data_copy) not in " ".join(str(proto) for _, proto in elements(app))
    linked = fine(run(data="compas"))
    assert "compas.parquet is damaged" in linked.warning[0].value.replace("\\", "")
    assert figure(linked, "P-Rule") == figure(app, "P-Rule")
    for page in ("pages/data.py", "pages/your_data.py", "pages/runs.py"):
        fine(run(page))


@pytest.mark.parametrize("harm", ["flipped", "missing", "a folder", "no checksum"])
def test_the_usual_data_set_may_be_the_damaged_one(data_copy, harm):
    path = data_copy / "law_school.parquet"
    if harm == "flipped":
        flip(path)
    elif harm == "no checksum":
        sums = (data_copy / CHECKSUMS).read_text()
        (data_copy / CHECKSUMS).write_text(sums.replace("law_school.parquet", "another.parquet"))
    else:
        path.unlink()
        if harm == "a folder":
            path.mkdir()
    app = fine(run("pages/data.py"))
    assert app.selectbox[0].value == "law_school_full"
    assert "law_school.parquet" in next(iter(damaged_files().values()))


@pytest.mark.slow
def test_the_lesson_says_which_of_its_files_is_damaged_and_the_paper_needs_none(data_copy):
    flip(data_copy / "law_school.parquet")
    (data_copy / "compas.parquet").unlink()
    for step, file in (("1", "law_school.parquet is damaged"), ("4", "compas.parquet is missing")):
        app = fine(run("pages/lesson.py", step=step))
        said = told(app).replace("\\", "")
        assert f"This step cannot be shown. The data file {file}" in said
        assert "The notes cannot be written." in said
        assert not app.button(key="next").disabled
    paper = fine(run("pages/paper.py"))
    assert not paper.warning
    assert "COMMOD changes the fewest decisions in" in told(paper)


def test_a_lesson_goes_on_with_the_steps_whose_file_is_sound(data_copy):
    (data_copy / "compas.parquet").unlink()
    app = fine(run("pages/lesson.py", step="4"))
    assert "Try another: steps 1, 2, 3, 5, 7, 8 work." in told(app)
    fine(app.button(key="step_0").click().run())
    assert app.main.radio or app.main.number_input  # its question


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["flipped", "missing"])
@pytest.mark.parametrize("name", task_names())
def test_every_page_stands_whichever_file_is_damaged(data_copy, name, harm):
    path = data_copy / f"{name}.parquet"
    if harm == "flipped":
        flip(path)
    else:
        path.unlink()
    for page in PAGES:
        app = run(page, methods="commod")  # all methods of Compare would take minutes
        assert not app.exception, page
        assert not app.error, page


def test_no_sound_file_at_all_is_said_in_words(data_copy):
    (data_copy / CHECKSUMS).write_text("[]")
    app = run()
    assert not app.exception
    assert app.error[0].value == "No data file of this app can be used."
    assert told(app).count("python -m data.rebuild") == len(task_names())


def test_a_damaged_result_is_named(tmp_path):
    path = tmp_path / "figure2.parquet"
    shutil.copy(data_directory() / "results" / "figure2.parquet", path)
    path.write_bytes(path.read_bytes()[:-40] + b"\0" * 40)
    with pytest.raises(
        ValueError, match=r"The result figure2.parquet is damaged: make it with 'python -m commod paper"
    ):
        read_result(path)
