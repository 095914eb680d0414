"""Whatever an address holds, every page opens, says what it did not know, and lets nothing through unescaped."""

import math
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from commod.dashboard.pages.limits import region as limits
from commod.dashboard.pages.what_if import person as what_if
from commod.dashboard.state import page_state
from commod.dashboard.state.link import access_from_link, from_link, requirements_from_link, requirements_to_link
from commod.dashboard.state.settings import CONTROLS, GRIDS
from commod.dashboard.text.menu import PAGES
from commod.dashboard.views import methods as sweeps
from commod.dashboard.views.lesson import progress as lesson
from commod.datasets import TASKS
from commod.models.competitors import METHODS
from tests.dashboard.driving import run
from tests.dashboard.hostile import MARKUP, PICTURE, let_through, texts

PARAMETERS = (
    *CONTROLS,
    *("methods", "model", "segments", "budget", "level", "person", "runs", "compare", "paper"),
    *("step", "answers", "controls", "rest", "embed", "nonsense", "req"),
)
VALUES = (
    *("", " ", "nan", "NaN", "-0", "1e309", "-inf", "1e308", "9" * 5000, "0x10", "1_0", "٣", "½", "²", "-1", "1.5"),
    *("<script>alert(1)</script>", MARKUP, PICTURE, ":red[x] $x$", "\x00", "\u202e", "\ud800", "a" * 100_000),
    *("../../etc/passwd", "own-" + "0" * 32, "own-", "__class__", "None", ",,,", "012", "1234", "3,0.05,7", "nan,nan"),
    *("p_rule:0.8;changed:0.05", "p_rule:nan", "kept_out:%,lsat;direction:up", "dm:3;dm:1", "kept_out:" + "a," * 900),
    *("law_school", "commod,commod", "commod,<script>", "3,0.05", "1", "a.law_school.k-2", "hidden", "compas"),
)
value = st.one_of(st.sampled_from(VALUES), st.text(max_size=60), st.floats().map(str), st.integers().map(str))
links = st.dictionaries(st.sampled_from(PARAMETERS), value, max_size=8)


@settings(max_examples=400, deadline=None)
@given(links)
def test_the_parts_of_a_link_are_valid_whatever_it_holds(link):
    found, notices = from_link(link)
    assert found.data in TASKS
    assert all(getattr(found, name) in grid for name, grid in GRIDS.items())
    access, unknown = access_from_link(link)
    assert access.live is None or access.live <= set(CONTROLS)
    required, unmet = requirements_from_link(link, found.task_name)
    assert requirements_from_link(requirements_to_link(required), found.task_name) == (required, [])
    progress = lesson.from_link(link)
    assert 0 <= progress.step < 100
    assert all(isinstance(answer, str) or math.isfinite(answer) for answer in progress.answers.values())
    for grid in (limits.BUDGETS, *limits.LEVELS.values()):
        assert limits._nearest(grid, link.get("budget", "")) in (None, *grid)
    model = sweeps._model_in(link.get("model", ""))
    assert model is None or all(math.isfinite(number) for number in model)
    for notice in (*notices, *unknown, *unmet, progress.notice):
        assert len(notice) < 400


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(links)
@example({"segments": "012", "person": "²"})
def test_the_states_of_pages_are_valid_whatever_the_link_holds(monkeypatch, link):
    with monkeypatch.context() as patched:
        for module in (sweeps, what_if, page_state):
            patched.setattr(module, "st", SimpleNamespace(session_state={}, query_params=link))
        assert set(sweeps.state().methods or ()) <= set(METHODS)
        result = SimpleNamespace(settings=SimpleNamespace(task_name="a", seed=0), changed_test=[0, 1, 0])
        assert what_if.state_of(result).person in range(3)


HOSTILE = {
    "markup": dict.fromkeys(PARAMETERS, MARKUP),
    "pictures": dict.fromkeys(PARAMETERS, PICTURE),
    "numbers": dict.fromkeys(PARAMETERS, "1e309") | {"seed": "-0", "k": "nan", "person": "٣", "segments": "012"},
    "long, twice and not ours": {name: ["\0" * 3, "9" * 15_000] for name in PARAMETERS} | {"data": "own-" + "0" * 32},
}


def open_with(page, link):
    app = run(page, **link)
    assert not app.exception
    assert not app.error
    assert not let_through(app)
    assert all("Traceback" not in text for _, _, text in texts(app))
    return app


@pytest.mark.parametrize("link", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("page", ["app.py", "pages/runs.py", "pages/lesson.py", "pages/your_data.py", "pages/data.py"])
def test_a_page_opens_by_a_hostile_link(page, link):
    open_with(page, link)


@pytest.mark.slow
@pytest.mark.parametrize("link", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_by_a_hostile_link(page, link):
    open_with(page, link | {"methods": "<script>,oracle_roc" if page == "pages/compare.py" else "commod"})


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from([page for page in PAGES if page not in ("pages/compare.py", "pages/decide.py")]), links)
def test_every_page_opens_by_any_link(page, link):
    open_with(page, {name: text.encode("utf-8", "replace").decode() for name, text in link.items()})


def test_what_a_link_says_is_quoted_as_text():
    app = run(data=PICTURE, f=MARKUP, k="[p](//evil.example)", controls="[p](//evil.example)")
    assert len(app.warning) >= 4
    assert not let_through(app)
