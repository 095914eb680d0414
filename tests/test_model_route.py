"""``GET /model`` of a real server: uploaded data for their own browser alone, headers, and what is not its business."""

import asyncio
import json
import urllib.error
import urllib.request
from urllib.parse import urlencode

import pytest

from commod.dashboard.state.link import to_link
from commod.dashboard.state.settings import defaults
from commod.datasets.example import example_table
from tests.benchmarks.upload import Stranger
from tests.waiting import PATIENCE
from tests.wire import Fetcher, Tab


def test_uploaded_data_are_shown_to_their_browser_alone_and_only_while_it_is_there(served):
    async def story():
        owner, thief = Stranger(served), Tab(served)
        await thief.open()
        await owner.bring("people.csv", example_table(300).to_csv(index=False).encode())
        await owner.press("Use these data")
        await owner.explore()
        await owner.tab.until(lambda: owner.tab.link().get("data", "").startswith("own-"), 120)
        query = f"/model?{urlencode(owner.tab.link())}"
        answers = {}
        for name, cookie in (("owner", owner.tab.cookie), ("thief", thief.cookie), ("nobody", "")):
            fetcher = Fetcher(served, {"Cookie": cookie} if cookie else {})
            status, content = await fetcher.get(query)
            while status == 202:
                status, content = await fetcher.get(query)
            answers[name] = status, json.loads(content)
            fetcher.abort()
        await owner.tab.close()
        fetcher = Fetcher(served, {"Cookie": owner.tab.cookie})
        async with asyncio.timeout(PATIENCE):
            while (await fetcher.get(query))[0] != 400:
                await asyncio.sleep(0.05)
        fetcher.abort()
        await thief.close()
        return answers

    answers = asyncio.run(story())
    status, document = answers["owner"]
    assert status == 200
    assert document["settings"]["data"].startswith("own-")
    for name in ("thief", "nobody"):
        status, document = answers[name]
        assert status == 400
        assert "figures" not in document


@pytest.mark.parametrize(("method", "status"), [("GET", 200), ("POST", 405), ("DELETE", 405)])
def test_it_can_only_be_read_and_has_the_headers_of_every_answer(served, method, status):
    asked = urllib.request.Request(f"{served}/model?{urlencode(to_link(defaults('law_school')))}", method=method)
    try:
        answer = urllib.request.urlopen(asked, timeout=PATIENCE)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        assert answer.status in (status, 202 if status == 200 else status)
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
