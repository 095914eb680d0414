"""A browser tab without a browser: Streamlit's websocket protocol, spoken by asyncio so that thirty cost little.

`Tab` is for those who drive many at a time, `Wire` the same for a test that waits for one after the other.
"""

import asyncio
import re
import secrets
import time
import urllib.request
import uuid
from contextlib import suppress
from urllib.parse import parse_qsl, urlsplit

import pyarrow as pa
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NumberInput_pb2 import NumberInput
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from commod.dashboard.server.headers import COOKIE
from tests.waiting import PATIENCE

# Messages kept for this many finished runs since they were last used, as the browser does (global.maxCachedMessageAge).
MAX_AGE = 2


class Fetcher:
    """A browser's ``fetch``, one request at a time over a connection that stays open; one that is aborted closes it."""

    def __init__(self, address, headers):
        self._at, self._line = urlsplit(address), None
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in headers.items())

    async def get(self, path):
        """Status and content of the answer; on a new connection, if the server has closed an idle one."""
        was_open = self._line is not None
        if not was_open:
            self._line = await asyncio.open_connection(self._at.hostname, self._at.port)
        reader, writer = self._line
        try:
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {self._at.netloc}\r\n{self._headers}\r\n".encode())
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        except (OSError, EOFError):
            self.abort()
            if not was_open:
                raise
            return await self.get(path)
        length = re.search(r"content-length: (\d+)", head)
        return int(head.split()[1]), await reader.readexactly(int(length[1]) if length else 0)

    def abort(self):
        """Close the connection, whatever is still to come."""
        if self._line is not None:
            self._line[1].transport.abort()
            self._line = None


class Tab:
    """One session: what it was sent, the states of its widgets, and what went wrong.

    `on_element` is called with each new element as it comes in (its kind and its protobuf message), with
    ("address", None) when the address has changed, and with ("finished", None) when a run of the script has come to its
    end. `cookie` is the browser's, another one for each tab unless said otherwise; "" is a client that has none.
    `resume` is the id of a session to be taken up again, and `headers` are further ones of the handshake. Parts of a
    page that are drawn anew every few seconds are asked for as a browser does.
    """

    def __init__(self, address, page="", query="", on_element=None, origin=None, cookie=None, resume="", headers=None):
        self.address, self.page, self.query, self.origin = address, page, query, origin or address
        self.cookie = f"{COOKIE}={secrets.token_urlsafe(32)}" if cookie is None else cookie
        self.resume, self.headers = resume, headers or {}
        self.on_element = on_element or (lambda kind, element: None)
        self.widgets = {}  # label to the widget's message
        self.states = {}  # id to its state
        self.problems = []  # exceptions, error boxes, references to nothing, a connection that ended
        self.runs = 0  # of the whole script that have begun
        self.finished = 0  # that have run to their end
        self.session_id = ""
        self.file_urls = self.download = None
        self.closed = False
        self._kept = {}  # hash to the message and the run in which it was last used
        self._page_hash = ""  # of the page that the server has opened, by which it is asked for from then on
        self._timers = {}  # of parts that are drawn anew by themselves, by their ids
        self._change = asyncio.Event()
        self._socket = self._reader = None

    async def open(self):
        """Connect and ask for the page."""
        uri = f"ws://{urlsplit(self.address).netloc}/_stcore/stream"
        self._socket = await connect(
            uri,
            subprotocols=["streamlit", *(["no-token", self.resume] if self.resume else [])],
            additional_headers={**self.headers, **({"Cookie": self.cookie} if self.cookie else {})},
            origin=self.origin,
            max_size=None,
            open_timeout=PATIENCE,
        )
        self._reader = asyncio.create_task(self._read())
        await self.rerun()
        return self

    async def rerun(self, changes=None, part="", pressed=()):
        """Ask for a run of the script, or of one part of it, with the widgets of these labels set to these values."""
        for label, value in (changes or {}).items():
            widget = self.widgets[label]
            self.states[widget.id] = state_of(widget, value)
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_script_hash = self.query, self._page_hash
        state.page_name = "" if self._page_hash else self.page
        state.widget_states.widgets.extend([*self.states.values(), *pressed])
        state.cached_message_hashes.extend(self._kept)
        state.context_info.url = f"{self.address}/{self.page}"
        state.fragment_id, state.is_auto_rerun = part, bool(part)
        await self.send(message.SerializeToString())

    async def send(self, data):
        """Send bytes (or, as no browser would, text) as they are."""
        with suppress(ConnectionClosed):  # the reader tells
            await self._socket.send(data)

    async def until(self, condition, seconds):
        """Wait until `condition()` holds or the connection is gone; whether it holds."""
        deadline = time.monotonic() + seconds
        while not condition():
            left = deadline - time.monotonic()
            if left <= 0 or self.closed:
                return False
            self._change.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._change.wait(), left)
        return True

    async def ask_for_upload(self, name):
        """The path to which a file can be put."""
        self.file_urls = None
        message = BackMsg()
        message.file_urls_request.request_id = uuid.uuid4().hex
        message.file_urls_request.session_id = self.session_id
        message.file_urls_request.file_names.append(name)
        await self.send(message.SerializeToString())
        if not await self.until(lambda: self.file_urls is not None, PATIENCE):
            raise TimeoutError("no place for an upload")
        return self.file_urls

    async def upload(self, label, name, content):
        """Bring a file as a browser does, and ask for a run of the script with it; its place."""
        uploader, urls = self.widgets[label], await self.ask_for_upload(name)
        await asyncio.to_thread(put, self.address, urls.upload_url, name, content, self.cookie)
        state = WidgetState(id=uploader.id)
        info = state.file_uploader_state_value.uploaded_file_info.add()
        info.file_id, info.name, info.size = urls.file_id, name, len(content)
        info.file_urls.CopyFrom(urls)
        self.states[uploader.id] = state
        await self.rerun()
        return urls

    async def ask_for_download(self, file_id):
        """Have a file made; the path at which it is."""
        self.download = None
        message = BackMsg()
        message.backend_operation_request.request_id = uuid.uuid4().hex
        message.backend_operation_request.session_id = self.session_id
        message.backend_operation_request.deferred_file.file_id = file_id
        await self.send(message.SerializeToString())
        if not await self.until(lambda: self.download is not None, PATIENCE):
            raise TimeoutError("no file was made")
        return self.download

    async def go_to(self, page):
        """Follow the link to another page."""
        self.page, self._page_hash, self.states, self.widgets = page, "", {}, {}
        self._stop(self._timers)
        await self.rerun()

    async def click(self, label, changes=None):
        """Press a button, with the widgets of other labels set to values: those of its form, say."""
        press = WidgetState(id=self.widgets[label].id, trigger_value=True)
        await self.rerun(changes, pressed=[press])

    async def close(self):
        """Close the tab as a person does."""
        self.closed = True
        await self._socket.close()
        await self._reader

    async def vanish(self):
        """Cut the line without a word."""
        self.closed = True
        self._socket.transport.abort()
        await self._reader

    async def _read(self):
        try:
            async for data in self._socket:
                self._take(ForwardMsg.FromString(data))
                self._change.set()
        except ConnectionClosed:
            pass
        self._stop(self._timers)
        if not self.closed:
            self.closed = True
            self.problems.append(f"connection closed by the server ({self._socket.close_code})")
        self._change.set()

    def _take(self, message):
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            kept = self._kept.get(message.ref_hash)
            if kept is None:
                self.problems.append("reference to a message that is not kept")
                return
            kept[1] = self.finished
            message, kind = kept[0], "delta"
        elif message.metadata.cacheable:
            self._kept[message.hash] = [message, self.finished]
        if kind == "delta":
            self._take_delta(message.delta)
        elif kind == "new_session":
            if not message.metadata.run.fragment_ids:
                self.runs += 1
                self._stop(self._timers)
            self.session_id = message.new_session.initialize.session_id or self.session_id
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
            self.on_element("address", None)
        elif kind == "navigation":
            self._page_hash = message.navigation.page_script_hash
        elif kind == "auto_rerun":
            self._repeat(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            self._stop(message.stop_auto_rerun.fragment_ids)
        elif kind == "file_urls_response":
            self.file_urls = message.file_urls_response.file_urls[0]
        elif kind == "backend_operation_response":
            self.download = message.backend_operation_response.deferred_file.url
        elif kind == "script_finished":
            if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                self.finished += 1
                self.on_element("finished", None)
                self._kept = {key: kept for key, kept in self._kept.items() if self.finished - kept[1] <= MAX_AGE}
            elif message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                self.problems.append("the script does not compile")

    def _take_delta(self, delta):
        if delta.WhichOneof("type") != "new_element":
            return
        kind = delta.new_element.WhichOneof("type")
        element = getattr(delta.new_element, kind)
        if kind == "exception":
            self.problems.append(f"exception: {element.type} {element.message}"[:200])
        elif kind == "alert" and element.format == Alert.ERROR:
            self.problems.append(f"error box: {element.body}"[:200])
        elif kind in ("slider", "selectbox", "number_input", "text_input", "text_area"):
            self.widgets[element.label] = element
            if element.set_value or element.id not in self.states:
                self.states[element.id] = state_of(element, shown(kind, element))
        elif kind in ("file_uploader", "button", "download_button"):
            self.widgets[element.label] = element
        self.on_element(kind, element)

    def _repeat(self, part, seconds):
        """Have a part of the page drawn every few seconds."""

        async def repeat():
            while True:
                await asyncio.sleep(seconds)
                await self.rerun(part=part)

        if part not in self._timers:
            self._timers[part] = asyncio.create_task(repeat())

    def _stop(self, parts):
        for part in list(parts):
            if timer := self._timers.pop(part, None):
                timer.cancel()

    def link(self):
        """What the address says."""
        return dict(parse_qsl(self.query))


class _Recorder(Tab):
    """A tab that keeps what it is sent."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.received = []

    def _take(self, message):
        self.received.append(message)
        super()._take(message)


class Wire:
    """One session with a server, read while somebody waits for it."""

    def __init__(self, address, query="", page="", **options):
        self._loop = asyncio.Runner()
        self._tab = _Recorder(address, page, query, **options)
        try:
            self._loop.run(self._tab.open())
        except BaseException:
            self._loop.close()
            raise

    def read(self, seconds=PATIENCE, words=None):
        """Receive until a run of the script has come to its end, or until words have come in; true if that was so."""
        before = self._tab.finished
        return self.until(lambda: words in self.text if words else self._tab.finished > before, seconds)

    def until(self, condition, seconds=PATIENCE):
        """Receive until `condition()` holds; whether it does. Nothing comes in unless somebody waits here."""
        return self._loop.run(self._tab.until(condition, seconds))

    def do(self, name, *arguments):
        """What the tab's method of this name gives."""
        return self._loop.run(getattr(self._tab, name)(*arguments))

    @property
    def widgets(self):
        return self._tab.widgets

    @property
    def cookie(self):
        return self._tab.cookie

    @property
    def is_closed(self):
        """Whether either side has hung up, as far as has been read."""
        return self._tab.closed

    @property
    def session_id(self):
        return self._tab.session_id

    @property
    def received(self):
        """All messages that came in."""
        return self._tab.received

    @property
    def text(self):
        """All that came in, as text."""
        return b"".join(message.SerializeToString() for message in self.received).decode("utf-8", "replace")

    def cut(self):
        """End the connection without a word, as a browser that is killed."""
        self._end(self._tab.vanish())

    def close(self):
        self._end(self._tab.close())

    def _end(self, how):
        self._loop.run(how)
        self._loop.close()


def put(address, path, name, content, cookie=""):
    """Upload as a browser does: one part of a form, with the token of the site's cookie."""
    with urllib.request.urlopen(f"{address}/_stcore/health", timeout=PATIENCE) as answer:
        token = answer.headers["Set-Cookie"].split(";")[0]
    boundary = b"----------------------------42"
    head = f'Content-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: text/csv\r\n\r\n'
    body = b"--" + boundary + b"\r\n" + head.encode() + content + b"\r\n--" + boundary + b"--\r\n"
    headers = {
        "Content-Type": f"multipart/form-data; boundary={boundary.decode()}",
        "Cookie": f"{token}; {cookie}",
        "X-Xsrftoken": token.split("=", 1)[1],
    }
    request = urllib.request.Request(f"{address}/{path.lstrip('/')}", data=body, headers=headers, method="PUT")
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return answer.status


def stalled_upload(address):
    """Begin an upload and let it trickle: what is wrong with the answer, which should be that it took too long."""

    async def act():
        tab = await Tab(address, page="your_data").open()
        assert await tab.until(lambda: tab.session_id and "Your file" in tab.widgets, PATIENCE)
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=PATIENCE) as health:
            token = health.headers["Set-Cookie"].split(";")[0]
        path, place = (await tab.ask_for_upload("a.csv")).upload_url, urlsplit(address)
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        writer.write(
            f"PUT /{path.lstrip('/')} HTTP/1.1\r\nHost: {place.netloc}\r\nCookie: {token}; {tab.cookie}\r\n"
            f"X-Xsrftoken: {token.partition('=')[2]}\r\nContent-Type: multipart/form-data; boundary=x\r\n"
            "Content-Length: 9000\r\n\r\n--x\r\n".encode()
        )

        async def trickle():
            while True:
                await asyncio.sleep(0.1)
                writer.write(b"a")

        trickling, answer = asyncio.create_task(trickle()), b""
        with suppress(ConnectionResetError):  # who writes to a closed connection is reset; the answer came before
            async with asyncio.timeout(PATIENCE):
                while some := await reader.read(4096):
                    answer += some
        trickling.cancel()
        writer.close()
        await tab.close()
        wrong = [] if b"408 " in answer and b"took too long" in answer else [answer]
        return wrong + tab.problems

    return asyncio.run(act())


def shown(kind, element):
    """The value with which a widget is drawn."""
    if kind == "slider":
        return list(element.raw_value) if element.set_value else [element.options[int(i)] for i in element.default]
    if kind == "selectbox":
        return element.raw_value if element.set_value else element.options[element.default]
    return element.value if element.set_value else element.default


def state_of(widget, value):
    """A widget's state as the browser sends it: by the kind of the value, whatever the widget makes of it."""
    state = WidgetState(id=widget.id)
    if isinstance(value, (list, tuple)):
        state.string_array_value.data.extend(value)
    elif isinstance(value, str):
        state.string_value = value
    elif getattr(widget, "data_type", None) == NumberInput.INT:
        state.int_value = int(value)
    else:
        state.double_value = value
    return state


def data_of(chart):
    """The data of a chart, as an Arrow table."""
    return pa.ipc.open_stream(chart.data.data or chart.datasets[0].data.data).read_all()
