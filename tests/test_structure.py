"""Imports go one way, and Streamlit stays in the dashboard: read from the source, not from memory."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from commod.models.competitors import METHODS

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[1]
# A package may import from those before it and from itself. charts is a leaf: it imports nothing of ours.
ORDER = [
    "uploads",
    "datasets",
    "metrics",
    "models",
    "explain",
    "theory",
    "experiments",
    "decisions",
    "dashboard",
]
LEAVES = {"cells", "installation", "portable", "wording"}  # which import nothing of ours but one another
TOP = LEAVES | {"__init__", "__main__", "cli", "launch"}
# The same for the rooms of the dashboard. What leans on Streamlit's internals lies below all of them.
ROOMS = ["streamlit_internals", "text", "rooms", "state", "model", "jobs", "server", "views", "pages"]
# Text does not know of sessions, so it may not import state, nor lean on Streamlit.
NOT_FOR_TEXT = {"streamlit_internals"}
# Run where there is no session: in the queue's threads, in other processes, in a download.
WITHOUT_STREAMLIT = [
    "text",
    "rooms",
    "model",
    "jobs/processes.py",
    "jobs/queue.py",
    "jobs/computation.py",
    "jobs/scheduling.py",
    "jobs/tasks.py",
    "pages/lesson/notes.py",
    "pages/take_home/files.py",
    "pages/take_home/report.py",
]
SOURCES = sorted((ROOT / "commod").rglob("*.py"))
DASHBOARD = ROOT / "commod" / "dashboard"


@cache
def imported(path):
    found = []
    for node in statements(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found += _modules(node)
    return found


def statements(node):
    """Every statement; to look at every expression takes ten times as long."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, part, ()):
            yield child
            yield from statements(child)


def _modules(node):
    """The module, or what is imported from it where that is a module itself."""
    for alias in node.names:
        whole = f"{node.module}.{alias.name}"
        place = ROOT / whole.replace(".", "/")
        yield whole if place.is_dir() or place.with_suffix(".py").exists() else node.module


def package(path):
    parts = path.relative_to(ROOT / "commod").with_suffix("").parts
    return parts[0]


def test_imports_go_one_way():
    wrong = [f"{path.relative_to(ROOT)}: {reason}" for path in SOURCES for reason in wrong_imports(path)]
    assert not wrong, "\n".join(wrong)


def wrong_imports(path):
    home = package(path)
    for module in imported(path):
        if module.split(".")[0] == "streamlit" and home != "dashboard":
            yield "imports Streamlit"
        if not module.startswith("commod."):
            if module == "commod" and home not in TOP | {"dashboard"}:
                yield "imports the top-level package"
            continue
        used = module.split(".")[1]
        if home in LEAVES and used not in LEAVES:
            yield f"a leaf imports {module}"
        elif home in TOP or used in {home, *LEAVES}:
            continue
        elif home == "charts":
            yield f"charts is a leaf but imports {module}"
        elif used not in ORDER[: ORDER.index(home)] and not (used == "charts" and home in ("experiments", "dashboard")):
            yield f"imports {module}"


def room(module):
    """Of the dashboard, or None for what is elsewhere."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["commod", "dashboard"] and len(parts) > 2 else None


def test_rooms_are_entered_one_way():
    wrong = []
    for path in sorted(DASHBOARD.rglob("*.py")):
        here = path.relative_to(DASHBOARD).with_suffix("").parts[0]
        if here == "__init__":
            continue
        for module in imported(path):
            used = room(module)
            if used is None:
                continue
            if ROOMS.index(used) > ROOMS.index(here) or (here == "text" and used in NOT_FOR_TEXT):
                wrong.append(f"{path.relative_to(DASHBOARD)} imports {module}")
    assert not wrong, "\n".join(wrong)


def test_no_page_imports_another():
    def page(parts):
        return parts[0].removesuffix(".py")

    wrong = []
    for path in sorted((DASHBOARD / "pages").rglob("*.py")):
        own = page(path.relative_to(DASHBOARD / "pages").parts)
        for module in imported(path):
            if module.startswith("commod.dashboard.pages.") and page(module.split(".")[3:]) != own:
                wrong.append(f"{path.relative_to(DASHBOARD)} imports {module}")
    assert not wrong, "\n".join(wrong)


def test_what_runs_without_a_session_does_not_load_streamlit():
    """Nor does anything that it imports."""
    wrong = [reason for place in WITHOUT_STREAMLIT for reason in ways_to_streamlit(place)]
    assert not wrong, "\n".join(wrong)


def ways_to_streamlit(place):
    start = DASHBOARD / place
    todo = {*start.rglob("*.py")} if start.is_dir() else {start}
    seen = set()
    assert todo
    while todo:
        path = todo.pop()
        seen.add(path)
        for module in imported(path):
            if module.split(".")[0] == "streamlit":
                yield f"{path.relative_to(ROOT)} is loaded by {place} and imports Streamlit"
            found = ROOT / (module.replace(".", "/") + ".py")
            if module.startswith("commod.dashboard.") and found.exists() and found not in seen:
                todo.add(found)


def test_the_quick_tests_reach_every_module():
    """By what they import, and what that imports; their snapshots draw all pages."""
    quick = [path for path in (ROOT / "tests").rglob("test_*.py") if "pytest.mark.quick" in path.read_text()]
    text = "".join(path.read_text() for path in quick)
    lazy = {module for module, name in (m.estimator for m in METHODS.values() if m.is_written) if name in text}
    todo = {*quick, ROOT / "app.py", *(ROOT / "pages").glob("*.py")} | {file_of(module) for module in lazy}
    reached = set()
    while todo:
        path = todo.pop()
        reached.add(path)
        for module in imported(path):
            todo |= {file_of(module)} & {*SOURCES} - reached
    missing = [path for path in SOURCES if path not in reached and not path.name.startswith("__")]
    assert not missing, "\n".join(str(path.relative_to(ROOT)) for path in missing)


def file_of(module):
    place = ROOT / module.replace(".", "/")
    return place.with_suffix(".py") if place.with_suffix(".py").exists() else place / "__init__.py"


def test_every_package_and_room_has_its_place():
    folders = {p.name for p in (ROOT / "commod").iterdir() if p.is_dir() and any(p.rglob("*.py"))}
    assert folders <= {*ORDER, "charts", "cli"}
    rooms = {p.stem for p in DASHBOARD.iterdir() if p.suffix == ".py" or any(p.rglob("*.py"))}
    assert rooms <= {*ROOMS, "__init__"}


def test_the_scripts_that_streamlit_runs_only_say_which_page_they_are():
    scripts = {path: code_of(path) for path in [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py"))]}
    assert len(scripts) > 10
    assert not [path.name for path, code in scripts.items() if len(code) > 10]
    page = "from commod.dashboard.pages."
    assert not [path.name for path, code in scripts.items() if not any(line.strip().startswith(page) for line in code)]


def code_of(path):
    """The lines after the docstring that are not empty."""
    return [line for line in path.read_text().split('"""', 2)[2].splitlines() if line.strip()]


def test_nothing_is_called_utils():
    assert not [p for p in SOURCES if p.stem in {"utils", "helpers", "misc", "common"}]


def test_no_bound_goes_by_the_time_of_day():
    """A clock that jumps would end sessions and waits, or let them last for ever. (A report may have its date.)"""
    places = [*(DASHBOARD / room for room in ("state", "jobs", "server")), ROOT / "commod" / "uploads"]
    for path in [DASHBOARD / "streamlit_internals.py", *(path for place in places for path in place.rglob("*.py"))]:
        assert not re.findall(r"\btime\.time(?:_ns)?\(|\bdatetime\.(?:now|utcnow)\(", path.read_text()), path
