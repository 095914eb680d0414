"""The page that needs no server: the same pictures as the app and the library, in one file, without network."""

import base64
import json
import re
import zlib
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

from commod.cli import main
from commod.dashboard.model import standalone
from commod.dashboard.model.picture import picture_of
from commod.dashboard.model.training import fit_result
from commod.dashboard.state.link import to_link
from commod.dashboard.state.settings import CONTROLS, defaults
from commod.dashboard.text.language import LANGUAGES
from commod.datasets import TASKS, forget_task, load_task
from commod.datasets.example import example_table
from commod.metrics.figures import CRITERIA
from commod.models import Commod, evaluate
from tests.browsing import chromium
from tests.dashboard.server.test_model_route import whole

pytestmark = pytest.mark.browser
SMALL = {"lambda_fair": (0.0, 10.0), "lambda_ratio": (0.05,), "lambda_concepts": (0.05,), "k": (1, 2)}


def made(name, grid=SMALL, jobs=1, **how):
    """The text of a page, and the grid that it is on."""
    settings = defaults(name)
    found = standalone.grid_of(settings, grid)
    return standalone.page_html(settings, found, standalone.compute(settings, found, jobs=jobs), **how), found


def content_of(text):
    """What is packed into a page."""
    return json.loads(zlib.decompress(base64.b64decode(re.search(r'id="pack">([^<]*)<', text)[1])))


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Small pages by data set, each made once: path and grid."""
    folder, known = tmp_path_factory.mktemp("pages"), {}

    def page(name):
        if name not in known:
            text, grid = made(name, app="https://app.example.org/")
            (folder / f"{name}.html").write_text(text, encoding="utf-8")
            known[name] = folder / f"{name}.html", grid
        return known[name]

    return page


def opened(browser, path, query="?lambda_fair=0", offline=True, **how):
    """A page from the disk, without network; its errors and requests are kept. The query skips the lesson."""
    page = browser.new_page(**{"viewport": {"width": 1366, "height": 768}, "locale": "en-GB"} | how)
    page.errors, page.asked = [], []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda told: page.errors.append(told.text) if told.type == "error" else None)
    page.on("request", lambda asked: page.asked.append(asked.url))
    page.context.set_offline(offline)
    page.goto(f"{path.as_uri()}{query}")
    page.wait_for_function("() => window.commod || document.querySelector('[role=alert]')")
    assert not page.errors
    return page


def settings_on(grid, name):
    """Every setting of a grid."""
    for values in product(*grid.values()):
        yield replace(defaults(name), **dict(zip(grid, values, strict=True)))


def in_file(page, settings, language):
    """The pictures of a page at some settings, and the features of their concepts."""
    return page.evaluate(
        """([all, language]) => all.map((settings) => commod.models.picture(settings, language))""",
        [[{name: to_link(each)[name] for name in [*standalone.AXES, "k"]} for each in settings], language],
    )


def same(found, expected, within=1e-9):
    """Whether two documents agree, numbers within so much."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[name], expected[name], within) for name in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(same(a, b, within) for a, b in zip(found, expected, strict=True))
    if isinstance(expected, float) and isinstance(found, int | float):
        return abs(found - expected) <= within
    return found == expected


def agree(browser, path, grid, name):
    """Compare file, route and library at every setting of a grid."""
    page, all_of_them = opened(browser, path), list(settings_on(grid, name))
    pictures = {language: in_file(page, all_of_them, language) for language in LANGUAGES}
    page.close()
    task = load_task(name)
    for i, settings in enumerate(all_of_them):
        result = fit_result(settings)
        for language in LANGUAGES:
            expected = json.loads(json.dumps(picture_of(result, language, complete=True)))
            assert same(pictures[language][i], expected), (settings, language)
        assert same(pictures["en"][i], whole(settings)[1]), settings
        g = Commod(result.scene.f, threshold=result.scene.threshold, **settings.commod_arguments())
        g.fit(**result.scene.train.fit_arguments)
        figures = evaluate(task, result.scene.f, g, result.scene.test)
        for figure in pictures["en"][i]["figures"]:
            for column in ("f", "g", "difference"):
                assert figure[column] == pytest.approx(figures.loc[figure["name"], column], abs=1e-9)


@pytest.mark.parametrize("name", ["law_school", "compas"])
def test_file_route_and_library_agree_at_every_setting(browser, pages, name):
    agree(browser, *pages(name), name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["law_school", "compas"])
def test_they_agree_on_the_grid_of_the_command(browser, tmp_path, name):
    text, grid = made(name, standalone.GRID, jobs=-1)
    assert len(text.encode()) <= 1_500_000
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    agree(browser, tmp_path / "page.html", grid, name)


def test_the_same_models_give_the_same_bytes(pages):
    path, _ = pages("law_school")
    assert made("law_school", jobs=2, app="https://app.example.org/")[0] == path.read_text(encoding="utf-8")
