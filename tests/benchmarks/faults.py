"""What nobody should do to a server, done beside the crowd: each kind in turn, and whether the page came through."""

import asyncio
import random
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle
from urllib.parse import urlencode, urlsplit

import psutil
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from commod.dashboard.state.link import to_link
from commod.dashboard.state.settings import GRIDS, Settings
from tests.browsing import helpers_of
from tests.waiting import PATIENCE
from tests.wire import Tab, put

PAUSE = 2.5
HOSTILE = "<script>alert(1)</script>"
LINKS = (
    {"data": HOSTILE, "lambda_fair": "NaN", "k": "99999999999999999999", "seed": "-1"},
    {"lambda_fair": "1e400", "lambda_ratio": "-inf", "lambda_concepts": "0x10", "depth": "1e18"},
    {"fairness": "../../etc/passwd", "f": "__import__('os')", "view": "\0", "seed": "9" * 5000},
    {"data": "own-" + "0" * 32, "k": "½", "lambda_fair": "[]", HOSTILE: HOSTILE},
)
# What no slider, list or field of the page can be set to by hand.
VALUES = (
    {"Fairness (λ_fair)": [HOSTILE]},
    {"Fairness (λ_fair)": []},
    {"Fairness (λ_fair)": ["1", "2", "3"]},
    {"Concepts (k)": ["1e309"]},
    {"Data set": HOSTILE},
    {"Base model f": ""},
    {"Seed of the split": -1},
    {"Seed of the split": 2**40},
    {"Changed, at most (%)": float("nan")},
    {"P-Rule, at least": 1e308},
)
FILES = {
    "photo.csv": b"\x89PNG\r\n\x1a\n" + bytes(500),
    "cut.parquet": b"PAR1" + bytes(range(256)) + b"PAR1",
    "empty.csv": b"",
    "quotes.csv": b'a,b\n"1,2\n3,4\n' * 50,
    "bytes.csv": random.Random(0).randbytes(20_000),
}


@dataclass
class Fault:
    """One thing done, and what went wrong (nothing, if it was survived)."""

    kind: str
    trouble: str = ""


class Stranger(Tab):
    """A tab that notes whether the page was drawn, and markup of ours that holds what a stranger wrote."""

    def __init__(self, address, page="", query="", **options):
        super().__init__(address, page, query, self._note, **options)
        self.drawn = False
        self.injected = False

    def _note(self, kind, element):
        self.drawn = self.drawn or kind == "vega_lite_chart"
        if kind == "html" or (kind == "markdown" and element.allow_html):
            self.injected = self.injected or HOSTILE in element.body

    def trouble(self):
        """What is wrong with the page, or nothing."""
        return "; ".join(self.problems) or ("markup was let through" if self.injected else "")


async def _open(address, **query):
    tab = Stranger(address, query=urlencode(query))
    await tab.open()
    if not await tab.until(lambda: tab.drawn, PATIENCE):
        tab.problems.append("the page was not drawn")
    return tab


async def gone_in_training(address, rng):
    """A tab that is closed without a word while its model is trained."""
    values = {name: rng.choice(GRIDS[name]) for name in ("lambda_fair", "lambda_ratio", "lambda_concepts", "k")}
    setting = Settings(data=rng.choice(("law_school", "compas")), **values)
    tab = Stranger(address, query=urlencode(to_link(setting)))
    await tab.open()
    await tab.until(lambda: tab.runs > 0, PATIENCE)  # the script has begun
    await asyncio.sleep(0.03)  # in the midst of it
    await tab.vanish()
    return ""


async def hostile_link(address, rng, links=cycle(LINKS)):  # noqa: B008 - one after the other
    """A link with markup, numbers beyond all bounds, or paths."""
    tab = await _open(address, **next(links))
    trouble = tab.trouble()
    await tab.close()
    return trouble


async def hostile_value(address, rng, values=cycle(VALUES)):  # noqa: B008
    """A widget set to what it cannot be set to by hand."""
    changes = next(values)
    tab = await _open(address)
    await tab.until(lambda: tab.finished > 0, PATIENCE)
    done = tab.finished
    await tab.rerun(changes)
    if not await tab.until(lambda: tab.finished > done, PATIENCE):
        tab.problems.append("the page was not finished")
    trouble = tab.trouble()
    await tab.close()
    return f"{changes}: {trouble}" if trouble else ""


async def wrong_type(address, rng):
    """A state of the wrong type, on which Streamlit stumbles itself: the next message must find the page well."""
    tab = await _open(address)
    await tab.until(lambda: tab.finished > 0, PATIENCE)
    trouble = tab.trouble()
    slider = tab.widgets["Fairness (λ_fair)"].id
    right = tab.states[slider]
    tab.states[slider] = WidgetState(id=slider, string_value="3")
    tab.states["nobody"] = WidgetState(id="$$ID-0-nobody", json_value="{" * 1000)
    done = tab.finished
    await tab.rerun()
    await tab.until(lambda: tab.problems or tab.finished > done, PATIENCE)
    tab.states = {key: state for key, state in tab.states.items() if key != "nobody"} | {slider: right}
    tab.problems, tab.drawn = [], False
    await tab.rerun()
    if not await tab.until(lambda: tab.drawn, PATIENCE):
        tab.problems.append("the page was not drawn again")
    trouble = trouble or tab.trouble()
    await tab.close()
    return trouble


async def garbage(address, rng):
    """Random bytes in place of a message: the server should hang up on this one alone."""
    return await _hung_up(address, b"\xff" + rng.randbytes(300))


async def cut_message(address, rng):
    """The beginning of a message."""
    return await _hung_up(address, b"\x5a\xff\xff\xff\x7f" + bytes(20))


async def text_message(address, rng):
    """Text where bytes are due."""
    return await _hung_up(address, "rerun, please")


async def _hung_up(address, data):
    tab = await _open(address)
    trouble = tab.trouble()
    await tab.send(data)
    if not await tab.until(lambda: tab.closed, PATIENCE):
        trouble = trouble or "the server did not hang up"
        await tab.close()
    return trouble


async def half_a_handshake(address, rng):
    """A connection that begins to ask and is cut."""
    place = urlsplit(address)
    _, writer = await asyncio.open_connection(place.hostname, place.port)
    writer.write(b"GET /_stcore/stream HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n")
    await writer.drain()
    await asyncio.sleep(0.5)  # and lets the server wait
    writer.transport.abort()
    return ""


async def broken_upload(address, rng, files=cycle(FILES.items())):  # noqa: B008
    """A file that is not what its name says; the page should say so in a sentence."""
    name, content = next(files)
    tab = Stranger(address, page="your_data")
    await tab.open()
    if not await tab.until(lambda: tab.finished > 0, PATIENCE):
        return "the page was not drawn"
    done = tab.finished
    await tab.upload("Your file", name, content)
    finished = await tab.until(lambda: tab.finished > done, PATIENCE)
    told = [problem for problem in tab.problems if problem.startswith("error box")]
    faults = [problem for problem in tab.problems if problem not in told]
    await tab.close()
    if faults or not finished:
        return "; ".join(faults) or "the page was not finished"
    return "" if told else f"{name} was not refused"


async def made_up_files(address, rng):
    """Megabytes put to places that the app has not given out."""
    tab = await _open(address)
    place = (await tab.ask_for_upload("a.csv")).upload_url.rpartition("/")[0]
    taken = 0
    for _ in range(10):
        with suppress(OSError):  # refused, or hung up on while it sends
            await asyncio.to_thread(
                put, address, f"{place}/{rng.randbytes(16).hex()}", "a.csv", bytes(10**6), tab.cookie
            )
            taken += 1
    trouble = tab.trouble()
    await tab.close()
    return f"{taken} of 10 files were taken" if taken else trouble


async def borrowed_session(address, rng):
    """Another browser asks for a session that is open: it gets one of its own, and the first one notices nothing."""
    owner = await _open(address)
    thief = Stranger(address, resume=owner.session_id)
    await thief.open()
    await thief.until(lambda: thief.session_id, PATIENCE)
    runs = owner.runs
    await owner.rerun()
    if thief.session_id == owner.session_id or not await owner.until(lambda: owner.runs > runs, PATIENCE):
        owner.problems.append("the session was taken over")
    trouble = owner.trouble()
    await thief.close()
    if not owner.closed:
        await owner.close()
    return trouble


async def cut_sockets(address, rng):
    """140 sockets opened and cut from one address, while somebody's lid is closed."""
    lid = await _open(address)
    await lid.vanish()
    uri = f"ws://{urlsplit(address).netloc}/_stcore/stream"
    from_there = {
        "additional_headers": {"X-Forwarded-For": "198.51.100.7"},
        "origin": address,
        "open_timeout": PATIENCE,
    }
    for _ in range(7):
        for socket in await asyncio.gather(*(connect(uri, **from_there) for _ in range(20))):
            socket.transport.abort()
    back = Stranger(address, cookie=lid.cookie, resume=lid.session_id)
    await back.open()
    await back.until(lambda: back.session_id, PATIENCE)
    trouble = lid.trouble() or back.trouble()
    await back.close()
    return trouble if back.session_id == lid.session_id else "the session behind the lid was gone"


async def stopped_helper(address, rng):
    """A helper process that is stopped (SIGSTOP), as one that hangs: it should be ended and replaced."""
    helpers = helpers_of(server_of(address).pid)
    if not helpers:
        return "no helper process was found"
    one = rng.choice(helpers)
    one.suspend()
    for _ in range(int(PATIENCE / 0.25)):
        await asyncio.sleep(0.25)
        with suppress(psutil.NoSuchProcess):
            if one.status() != psutil.STATUS_ZOMBIE:
                continue
        return ""
    one.resume()
    return "the stopped helper was not replaced"


def server_of(address):
    """The process behind an address: a child of ours."""
    port = address.rsplit(":", 1)[1]
    return next(p for p in psutil.Process().children() if port in p.cmdline())


KINDS = {
    "gone in mid-training": gone_in_training,
    "hostile link": hostile_link,
    "hostile widget value": hostile_value,
    "state of the wrong type": wrong_type,
    "random bytes as a message": garbage,
    "half a message": cut_message,
    "text as a message": text_message,
    "half a handshake": half_a_handshake,
    "broken file uploaded": broken_upload,
    "files put to made-up places": made_up_files,
    "another's session asked for": borrowed_session,
    "140 sockets opened and cut": cut_sockets,
    "helper process stopped": stopped_helper,
}


async def misbehave(address, crowd, pause=PAUSE):
    """Do one thing after the other, until cancelled; notes each in ``crowd.faults``."""
    rng = random.Random(0)
    for kind in cycle(KINDS):
        await asyncio.sleep(pause)
        try:
            trouble = await KINDS[kind](address, rng)
        except InvalidStatus:
            kind, trouble = f"{kind}: no place for it", ""
        except Exception as error:
            trouble = f"{type(error).__name__}: {error}"
        crowd.faults.append(Fault(kind, trouble))
