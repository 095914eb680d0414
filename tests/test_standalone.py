"""The page that needs no server: the same pictures as the app and the library, in one file, without network."""

import base64
import json
import re
import zlib
from concurrent.futures import ThreadPoolExecutor
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
from commod.dashboard.text.language import LANGUAGES, phrase
from commod.datasets import TASKS, load_task
from commod.datasets.example import example_table
from commod.experiments import start
from commod.models import Commod, evaluate
from tests.browsing import chromium
from tests.dashboard.server.test_model_route import whole

pytestmark = pytest.mark.browser
# The setting where the data open is added to each of them.
SMALL = {"lambda_fair": (0.0, 10.0), "lambda_ratio": (0.05,), "lambda_concepts": (0.05,), "k": (1, 2)}
TINY = SMALL | {"lambda_fair": (0.0,)}


def made(name, grid=SMALL, jobs=1, **how):
    """The text of a page, and the grid that it is on."""
    settings = defaults(name)
    found = standalone.settings_on_page(settings, grid)
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
            grid = SMALL if name == "law_school" else TINY
            text, grid = made(name, grid, app="https://app.example.org/")
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


def some_settings_on(grid, name):
    """Every form at the largest λ_fair, with the criteria in turn, and the first form at another k; all are slow."""
    forms, criteria, largest = grid["update"], grid["fairness"], grid["lambda_fair"][-1]
    here = {(form, criteria[i % len(criteria)], grid["k"][0]) for i, form in enumerate(forms)}
    here.add((forms[0], criteria[0], grid["k"][-1]))
    for settings in settings_on(grid, name):
        if settings.lambda_fair == largest and (settings.update, settings.fairness, settings.k) in here:
            yield settings


def agree(browser, path, grid, name, at=settings_on):
    """Compare file, route and library at settings of a grid."""
    page, all_of_them = opened(browser, path), list(at(grid, name))
    pictures = {language: in_file(page, all_of_them, language) for language in LANGUAGES}
    page.close()
    task = load_task(name)
    apart = ThreadPoolExecutor(1)  # Playwright has a loop in this thread
    for i, settings in enumerate(all_of_them):
        _, routed = apart.submit(whole, settings).result()
        result = fit_result(settings)  # the route has just trained it
        for language in LANGUAGES:
            expected = json.loads(json.dumps(picture_of(result, language, complete=True)))
            assert same(pictures[language][i], expected), (settings, language)
        assert same(pictures["en"][i], routed), settings
        if settings.k != grid["k"][0]:  # the same model, read otherwise
            continue
        g = Commod(result.scene.f, threshold=result.scene.threshold, **settings.commod_arguments())
        g.fit(**result.scene.train.fit_arguments)
        figures = evaluate(task, result.scene.f, g, result.scene.test)
        for figure in pictures["en"][i]["figures"]:
            for column in ("f", "g", "difference"):
                assert figure[column] == pytest.approx(figures.loc[figure["name"], column], abs=1e-9)


def test_file_route_and_library_agree(browser, pages):
    agree(browser, *pages("law_school"), "law_school", at=some_settings_on)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["law_school", "compas"])
def test_they_agree_on_the_grid_of_the_command(browser, tmp_path, name):
    text, grid = made(name, standalone.GRID, jobs=-1)
    assert len(text.encode()) <= 1_500_000
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    agree(browser, tmp_path / "page.html", grid, name)


@pytest.mark.slow  # test_cli.py has the same digits of two processes
def test_the_same_models_give_the_same_bytes():
    grid = TINY | {"update": ("decisions",)}
    assert made("law_school", grid, jobs=2) == made("law_school", grid, jobs=1)


def test_it_opens_without_network_and_asks_for_nothing(browser, pages):
    path, _ = pages("law_school")
    page = opened(browser, path)
    assert page.asked == [page.url.partition("?")[0] + "?lambda_fair=0"]
    assert set(re.findall(r"https?://[^\"'\s<>`]+", path.read_text(encoding="utf-8"))) == {"http://www.w3.org/2000/svg"}
    policy = page.locator("meta[http-equiv]").get_attribute("content")
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    assert page.locator("#about a").get_attribute("href") == "https://app.example.org/"
    page.close()


def test_every_part_follows_the_sliders_and_choices(browser, pages):
    path, grid = pages("law_school")
    page = opened(browser, path)
    parts = ["#changes", "#concepts", "#tree", "#checks", "#tradeoff .body"]
    assert page.locator("#tradeoff .of_tried").is_hidden()
    seen = [page.locator(part).inner_html() for part in parts]
    page.locator("#set_lambda_fair").fill(str(len(grid["lambda_fair"]) - 1))
    now = [page.locator(part).inner_html() for part in parts]
    assert all(before != after for before, after in zip(seen, now, strict=True))
    for update in grid["update"]:
        page.locator("#set_update").select_option(update)
        settings = replace(defaults("law_school"), lambda_fair=10.0, update=update)
        result = fit_result(settings)
        people = f"{int(result.changed_test.sum()):,} of {len(result.changed_test):,}"
        assert people in page.locator("#tree").inner_text()
        assert page.locator(".verdict").inner_text() == result.verdict
        for answer in result.at_hand.values():
            assert f"{answer.part:,} of {answer.whole:,}" in page.locator("#checks").inner_text()
    assert page.locator("#tradeoff .chart .tried path[role]").count() == len(grid["update"])
    assert page.locator("#tradeoff .of_tried").is_visible()
    page.locator("#set_fairness").select_option("equalized_odds")
    assert "mistreatment" in page.locator("#tradeoff .chart").text_content().lower()
    assert "fairness=equalized_odds" in page.url
    assert not page.errors
    page.close()


@pytest.mark.parametrize("k", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_concepts_are_those_of_the_library(browser, pages, k):
    path, _ = pages("law_school")
    for update in ("ratio", "affine", "decisions"):
        settings = replace(defaults("law_school"), update=update, k=k)
        loadings = fit_result(settings).loadings
        page = opened(browser, path, f"?lambda_fair=3&k={k}&update={update}")
        cards = page.locator("#concepts .cards > div")
        shown = {
            cards.nth(i).locator("h3").inner_text(): cards.nth(i).locator("th").all_inner_texts()
            for i in range(cards.count())
        }
        page.close()
        assert shown == {name: rows["label"].tolist() for name, rows in loadings.groupby("concept", sort=False)}


def test_the_point_under_the_pointer_is_shown_and_a_click_goes_there(browser, pages):
    path, grid = pages("law_school")
    page = opened(browser, path)
    mark = page.locator("#tradeoff .chart .line path[role]").last.bounding_box()
    place = mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2
    page.mouse.move(*place)
    last = to_link(replace(defaults("law_school"), lambda_fair=grid["lambda_fair"][-1]))["lambda_fair"]
    page.wait_for_function(
        "words => commod.root.querySelector('.picture').dataset.setting.startsWith(words)", arg=f"λ_fair {last},"
    )
    assert page.locator("#set_lambda_fair").get_attribute("aria-valuetext") == "0"
    page.mouse.click(*place)
    assert page.locator("#set_lambda_fair").get_attribute("aria-valuetext") == last
    page.close()


@pytest.mark.parametrize(("locale", "language"), [("en-GB", "en"), pytest.param("fr-FR", "fr", marks=pytest.mark.slow)])
def test_the_lesson_goes_from_guess_to_slider_to_surprise(browser, pages, locale, language):
    path, _ = pages("law_school")
    page = opened(browser, path, "", locale=locale, viewport={"width": 390, "height": 844})
    assert page.locator("html").get_attribute("lang") == language
    assert page.locator("#story, #tradeoff, #sliders, #dots .caption").filter(visible=True).count() == 0
    for step in range(3):
        page.locator("#guess").fill("41")
        page.locator("#guide button").click()
        if step:
            goal = page.evaluate("() => commod.pack.grid.lambda_fair.indexOf(commod.lesson.goals[commod.lesson.step])")
            assert page.locator("#guide button").count() == 0  # the surprise waits for the slider
            page.locator("#set_lambda_fair").fill(str(goal))
        told = page.locator("#guide .surprise").inner_text()
        assert re.search(r"\d", told)
        assert "{" not in page.locator("#guide").inner_text()
        page.locator("#guide button").click()
    result = fit_result(replace(defaults("law_school"), lambda_fair=10.0))
    assert str(int(result.changed_test.sum())) in told
    assert page.locator("#tradeoff").is_visible()
    assert page.locator("#set_lambda_fair").get_attribute("aria-valuetext") == "10"  # where the lesson has left it
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert not page.errors
    page.close()


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_it_has_no_serious_barriers(browser, pages, scheme):
    path, _ = pages("law_school")
    for query in ("", "?lambda_fair=10"):
        page = opened(browser, path, query, color_scheme=scheme, bypass_csp=True)
        found = Axe().run(page).response["violations"]
        assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
        page.close()


def test_keys_move_a_slider_and_the_picture(browser, pages):
    path, grid = pages("law_school")
    page = opened(browser, path)
    page.locator("#set_lambda_fair").focus()
    page.keyboard.press("End")
    result = fit_result(replace(defaults("law_school"), lambda_fair=grid["lambda_fair"][-1]))
    page.wait_for_function("words => commod.root.querySelector('.verdict').textContent === words", arg=result.verdict)
    page.close()


def test_only_some_parts_are_shown_where_they_are_asked_for(browser, pages):
    path, _ = pages("law_school")
    page = opened(browser, path, "?only=dots&lambda_fair=10")
    shown = page.evaluate("() => [...document.querySelectorAll('section')].filter(e => e.offsetHeight).map(e => e.id)")
    assert shown == ["dots"]
    assert page.locator("header").is_hidden()
    page.close()


# ---- one person ----


def test_one_person_is_decided_as_by_the_library(browser, pages):
    path, grid = pages("hiring")
    page = opened(browser, path)
    person = content_of(path.read_text(encoding="utf-8"))["person"]
    assert 0 < len(person["people"]) <= standalone.MOST_PEOPLE
    for settings in settings_on(grid | {"k": [2]}, "hiring"):
        result = fit_result(settings)
        rows = result.scene.test.X
        chosen = np.unique(np.linspace(0, len(rows) - 1, len(person["people"])).astype(int))
        query = {name: to_link(settings)[name] for name in [*standalone.AXES, "k"]}
        found = page.evaluate(
            "(query) => commod.pack.person.people.map((cells) => commod.models.decide(query, cells).g)", query
        )
        np.testing.assert_allclose(found, result.logit[chosen], atol=1e-9, rtol=0)
    before = page.locator("#person .answer").inner_text()
    field = page.locator("#person input").first
    field.fill(field.get_attribute("max"))
    assert page.locator("#person .answer").inner_text() != before
    page.close()


def test_a_value_out_of_range_is_not_decided(browser, pages):
    path, _ = pages("law_school")
    page = opened(browser, path)
    person, field = page.locator("#person"), page.locator("#person input").first
    assert "11 to 48 points" in person.inner_text()
    for wrong in ("999", ""):
        field.fill(wrong)
        assert "Enter a number from 11 to 48 points." in person.inner_text()
        assert page.locator("#person .answer").inner_text() == phrase("en", "standalone.not_decided")
    field.fill("20")
    told = page.locator("#person .answer").inner_text()
    page.locator("#language").click()
    assert field.input_value() == "20"  # what was edited stays
    assert told != page.locator("#person .answer").inner_text()
    page.close()


def test_in_french_features_and_rules_are_french(browser, pages):
    path, _ = pages("law_school")
    page = opened(browser, path, "?lambda_fair=10&lang=fr")
    said = page.locator("#concepts, #tree, #person").all_inner_texts()
    page.close()
    for text in said:
        assert "Score LSAT" in text
        assert not re.search(r"LSAT score|School|grades|full-time", text)


def test_rows_are_in_it_only_where_the_licence_allows(pages):
    law_school = pages("law_school")[0].read_text(encoding="utf-8")
    for name, text in {
        "law_school": law_school,
        "hiring": made("hiring", TINY | {"update": ("decisions",)})[0],
    }.items():
        assert bool(content_of(text)["person"]["people"]) == TASKS[name].may_be_passed_on
    for name, spec in TASKS.items():
        sheet = load_task(name).datasheet
        assert spec.may_be_passed_on == ("None found for the data" not in sheet), name


# ---- the command ----


@pytest.fixture
def small_grid(monkeypatch):
    grid = TINY | {"update": ("decisions",)}
    monkeypatch.setattr(standalone, "GRID", grid)
    monkeypatch.setattr(standalone.settings_on_page, "__defaults__", (grid,))
    monkeypatch.setattr(start, "suited_start", lambda *_: start.Start({"lambda_fair": 3.0, "update": "decisions"}, ""))


@pytest.mark.usefixtures("small_grid")
def test_own_data_give_dots_and_counts_but_rows_only_if_asked(tmp_path, capsys):
    table, page = tmp_path / "people.csv", tmp_path / "page.html"
    example_table(500).to_csv(table, index=False)
    command = [
        "page",
        str(table),
        "--outcome",
        "hired",
        "--sensitive",
        "group",
        "--scores",
        "",
        "-o",
        str(page),
        "--jobs",
        "1",
    ]
    assert main(command) == 0
    told = capsys.readouterr()
    assert "models: λ_fair 0" in told.err
    assert " MB, in " in told.out
    content = content_of(page.read_text(encoding="utf-8"))
    assert content["person"] is None
    assert main([*command, "--rows"]) == 0
    assert content_of(page.read_text(encoding="utf-8"))["person"]["people"]


@pytest.mark.slow
@pytest.mark.usefixtures("small_grid")
def test_the_gallery_has_a_page_for_each_data_set(tmp_path, monkeypatch):
    monkeypatch.setattr("commod.cli.commands.TASKS", {name: TASKS[name] for name in ("german", "law_school")})
    assert main(["page", "--all", "-o", str(tmp_path / "site"), "--jobs", "1"]) == 0
    assert sorted(path.name for path in (tmp_path / "site").iterdir()) == [
        "german.html",
        "index.html",
        "law_school.html",
    ]
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'href="(\w+\.html)"', index) == ["german.html", "law_school.html"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-o", "page.html"], "Name one data set, or use --all."),
        (["law_school", "-o", "nowhere/page.html"], "does not exist"),
        (["law_school", "-o", "page.html", "--app", "javascript:alert(1)"], "begins with https://"),
    ],
)
def test_bad_input_gets_one_sentence(arguments, told, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["page", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_the_grid_is_one_of_the_app():
    for name in ("lambda_fair", "lambda_ratio", "lambda_concepts", "k"):
        assert set(standalone.GRID[name]) <= set(CONTROLS[name].grid)
