"""``GET /model``: who gets which picture, who waits, and who is refused."""

import asyncio
import json
import logging
import time
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest
from starlette.requests import Request

from commod.dashboard.jobs import service, tasks
from commod.dashboard.jobs.queue import JobStage, WorkQueue
from commod.dashboard.rooms.buckets import Buckets
from commod.dashboard.server import model_route
from commod.dashboard.server.headers import COOKIE
from commod.dashboard.state.link import to_link
from commod.dashboard.state.settings import defaults
from tests.waiting import PATIENCE, wait_until

HERE = defaults("law_school")
MINE, OTHER = "m" * 43, "o" * 43


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(model_route, "GRACE", PATIENCE)
    monkeypatch.setattr(model_route, "_places", {})
    monkeypatch.setattr(model_route, "_requests", Buckets(model_route.BURST, model_route.RATE, time.monotonic))
    monkeypatch.setattr(model_route, "sessions_of", lambda browser: set())


def request(query, headers=(), secret=MINE, receive=None):
    async def still_there():
        await asyncio.Event().wait()

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/model",
        "query_string": urlencode(query).encode(),
        "headers": [(b"cookie", f"{COOKIE}={secret}".encode()), *headers],
        "client": ("203.0.113.7", 5000),
    }
    return Request(scope, receive or still_there)


def ask(query, **how):
    """The answer, and its document."""

    async def answer():
        return await model_route.answer(request(query, **how))

    found = asyncio.run(answer())
    return found, json.loads(found.body) if found.body else None


def whole(settings):
    """The complete picture, asked for as a browser does."""
    query = to_link(settings) | {"wait": "complete"}

    def complete():
        found, document = ask(query)
        return document["status"] == "ready" and document["complete"] and (found, document)

    return wait_until(complete)


def test_a_picture_is_that_of_the_page_and_is_trained_once(monkeypatch):
    queue = WorkQueue(1)
    monkeypatch.setattr(service, "queue", lambda: queue)
    settings = replace(HERE, lambda_fair=2.0)
    found, document = whole(settings)
    assert found.status_code == 200
    assert document["settings"] == to_link(settings.model())
    trained = queue.finished
    again, same = whole(settings)
    assert same == document
    assert again.body == found.body
    assert queue.finished == trained
    assert service.get(tasks.fit(settings)).settings == settings.model()


def test_a_complete_picture_has_a_tag_by_which_it_need_not_be_sent_again():
    found, _ = whole(HERE)
    tag = found.headers["etag"]
    again, document = ask(to_link(HERE), headers=[(b"if-none-match", tag.encode())])
    assert (again.status_code, document) == (304, None)
    other, _ = whole(replace(HERE, lambda_fair=2.0))
    assert other.headers["etag"] != tag


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"lambda_fair": "3.1"}, "λ_fair"),
        ({"lambda_fair": "much"}, "λ_fair"),
        ({"k": "99"}, "k"),
        ({"data": "nobody's"}, "nobody's"),
        ({"data": "own-0123"}, "uploaded"),
        ({"groups": "shoe size"}, "shoe size"),
        ({"lang": "xx"}, "language"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_in_a_sentence(query, names):
    found, document = ask(to_link(HERE) | query)
    assert found.status_code == 400
    assert document["status"] == "refused"
    assert names in document["reason"]
    assert document["reason"].endswith(".")
    assert found.headers["cache-control"] == "no-store"


def test_uploaded_data_are_for_the_browser_that_has_uploaded_them(monkeypatch):
    monkeypatch.setattr(model_route, "session_with", {"own-1": "session"}.get)
    monkeypatch.setattr(model_route, "sessions_of", lambda browser: {"session"} if browser == "mine" else set())
    assert model_route._owned("own-1", "mine") == "own-1"
    assert model_route._owned("own-1", "another") is None
    assert model_route._owned("own-1", None) is None
    assert model_route._owned("own-2", "mine") is None
    assert model_route._owned("law_school", "mine") is None


def test_a_browser_that_asks_too_often_waits_and_others_do_not(monkeypatch):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(model_route, "_requests", Buckets(model_route.BURST, model_route.RATE, lambda: clock.now))
    query = to_link(HERE) | {"lang": "xx"}
    answers = [ask(query)[0].status_code for _ in range(model_route.BURST + 2)]
    assert answers == [400] * model_route.BURST + [429] * 2
    assert ask(query, secret=OTHER)[0].status_code == 400
    clock.now += 1.5 / model_route.RATE
    assert [ask(query)[0].status_code for _ in range(2)] == [400, 429]


@pytest.fixture
def held_up(monkeypatch):
    """A queue whose only worker is at work until it is let go; the jobs that were then trained."""
    queue, begun, trained = WorkQueue(1), [], []
    monkeypatch.setattr(service, "queue", lambda: queue)

    def wait(report):
        begun.append(1)
        while begun:
            report(0.0)
            time.sleep(0.005)

    blocking = queue.submit("something else", JobStage(wait))
    wait_until(lambda: begun)
    yield queue, trained
    begun.clear()
    blocking.leave()


def test_who_waits_hears_the_place_in_the_queue_and_keeps_it(held_up, monkeypatch):
    queue, _ = held_up
    monkeypatch.setattr(model_route, "LONGEST_WAIT", 0.05)
    settings = replace(HERE, lambda_fair=7.0, lambda_ratio=0.3)

    async def twice():
        found = [await model_route.answer(request(to_link(settings))) for _ in range(2)]
        return [json.loads(answer.body) for answer in found], queue.abandoned

    documents, abandoned = asyncio.run(twice())
    assert [document["status"] for document in documents] == ["queued", "queued"]
    assert documents[0]["position"] == 0
    assert abandoned == 0


def test_who_leaves_gives_the_place_up_at_once(held_up):
    queue, _ = held_up

    async def gone():
        return {"type": "http.disconnect"}

    found, _ = ask(to_link(replace(HERE, lambda_fair=8.0, lambda_ratio=0.3)), receive=gone)
    assert found.status_code == 499
    assert queue.abandoned == 1


def test_a_browser_that_has_moved_on_gives_up_the_place_it_had(held_up, monkeypatch):
    queue, _ = held_up
    monkeypatch.setattr(model_route, "LONGEST_WAIT", 0.05)

    async def move():
        for value in (6.0, 7.0):
            await model_route.answer(request(to_link(replace(HERE, lambda_fair=value, lambda_ratio=0.4))))
        return queue.abandoned

    assert asyncio.run(move()) == 1


@pytest.mark.parametrize(("error", "status"), [(ValueError("Too few rows."), 400), (RuntimeError("secret"), 500)])
def test_a_training_that_fails_is_refused_without_its_inside(monkeypatch, caplog, error, status):
    class Failed:
        failed = True
        leave = staticmethod(lambda: None)

        def has(self, stage=-1):
            return True

        def result(self, stage=-1):
            raise error

    monkeypatch.setattr(service, "submit", lambda task: Failed())
    with caplog.at_level(logging.ERROR):
        found, document = ask(to_link(HERE))
    assert found.status_code == status
    assert ("Too few rows." in document["reason"]) == (status == 400)
    assert "secret" not in document["reason"]
    assert ("secret" in caplog.text) == (status == 500)
