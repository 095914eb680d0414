"""What is taken home, opened and checked: the report, the predictions, the model, the code; and the page."""

import hashlib
import io
import json
import re
from dataclasses import replace
from datetime import date
from functools import cache
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from commod.charts import export_chart
from commod.dashboard.model import standalone
from commod.dashboard.model.training import fit_result
from commod.dashboard.pages.take_home import page as take_home
from commod.dashboard.pages.take_home import report_figures
from commod.dashboard.pages.take_home.files import file_name, predictions_csv
from commod.dashboard.pages.take_home.report import NOTHING_DECIDED, _smallest, report_html
from commod.dashboard.pages.take_home.report_decided import Decided
from commod.dashboard.state.recipe import to_python
from commod.dashboard.state.settings import defaults
from commod.datasets.raw import rule_in_words
from commod.datasets.task import Split
from commod.decisions import (
    Requirements,
    Signature,
    best_under,
    check_requirements,
    facts_of,
    make_record,
)
from commod.experiments.limits import limits_of
from commod.explain.checks import CHECKS, certainty
from commod.explain.people import explain_outcomes
from commod.metrics.figures import FIGURES, Figure, figure_of
from tests.browsing import chromium
from tests.dashboard.driving import fine, run, slider, small_sweep, words
from tests.dashboard.refitting import refits

PAGE = "pages/take_home.py"
HOSTILE = "<script>alert(1)</script>&\"'</style><img src=x onerror=alert(1)>"


_drawings = {}  # of charts, by what they show


@pytest.fixture(autouse=True, scope="module")
def each_chart_drawn_once():
    """Most reports here are of one model; to draw its charts takes most of their time."""

    def drawn(chart, kind, *, width):
        key = chart.to_json(), kind, width
        if key not in _drawings:
            _drawings[key] = export_chart(chart, kind, width=width)
        return _drawings[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report_figures, "export_chart", drawn)
        yield


@cache
def fitted(name="law_school"):
    return fit_result(defaults(name))


def sense(result):
    """Whether its changes make sense, computed once for all tests of a model."""
    return result.keep("sense", lambda: (result.evidence(), result.merit(), refits(result)))


def report(result, date="1 May 2026", fingerprint="abc", code=None, found=None, decided=NOTHING_DECIDED):
    tree = result.tree(3) if result.changed_train.any() else None
    limits = result.keep("limits", lambda: limits_of(result.scene, result.settings.fairness))
    code = to_python(result.settings) if code is None else code
    found = found or sense(result)
    return report_html(result, tree, limits, *found, code=code, date=date, fingerprint=fingerprint, decided=decided)


class Reader(HTMLParser):
    """Tags, attributes and texts of a page; tags that are opened must be closed in order."""

    VOID = frozenset(["meta", "br", "img", "input", "link"])

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open, self.ids = [], [], [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def check_self_contained(read):
    assert not read.open
    assert not {"script", "iframe", "object", "embed", "link", "img", "form", "base", "image", "use"} & set(read.tags)
    for tag, name, value in read.attributes:
        assert not name.startswith("on"), (tag, name)
        assert name not in ("src", "srcset", "action", "formaction", "poster", "background", "data")
        if name.endswith("href"):
            assert value.startswith("#"), value
    ids = [value for _, name, value in read.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert {value[1:] for _, name, value in read.attributes if name == "href"} <= set(ids)
    styles = " ".join(read.texts)
    assert "@import" not in styles
    assert not re.search(r"url\((?!#)", styles)


def test_the_report_opens_with_its_verdicts_and_names_what_got_less_fair():
    result = fitted("law_school")
    text = Reader(report(result)).text
    row = result.figures.loc["predictive_parity_difference"]
    assert row["difference_low"] > 0  # more than chance
    told = f"The difference of the positive predictive values rises from {row['f']:.3f} to {row['g']:.3f} (0 is fair)"
    assert told in text
    assert text.index(CHECKS["right"].title) < text.index(told) < text.index("Intended use")
    assert "P-Rule falls" not in text  # it rises, which is fairer


@pytest.mark.parametrize("name", ["law_school", pytest.param("compas", marks=pytest.mark.slow)])
def test_the_report_shows_all_figures_and_needs_nothing_else(name):
    result = fitted(name)
    page = report(result)
    read = Reader(page)
    check_self_contained(read)
    assert read.tags.count("svg") == 2
    assert ">undefined<" not in page  # in a chart: a field that its frame lacks
    assert {"f", "g"} <= set(read.texts)
    assert read.tags.count("section") == 15
    for rule in result.task.contract:  # what a row must hold
        assert rule_in_words(rule) in read.texts
    text = read.text
    for figure, row in result.figures.iterrows():
        declared, _ = figure_of(figure)
        shown = "{:.1%}".format if declared.percent else "{:.3f}".format
        low, high = (shown(row[f"g_{end}"]).replace("%", "") for end in ("low", "high"))
        assert f"{shown(row['g'])} [{low}, {high}]" in text, figure
        if not declared.of_change:
            assert f"{shown(row['f'])} [" in text, figure
    assert result.verdict in text
    for answer in result.answers(*sense(result)[1:]).values():
        assert f"{answer.check.title} {answer.sentence} {answer.check.bounds}" in text
    for code, row in result.changes.iterrows():
        assert (
            f"{result.task.groups[code]} {row['count']:,.0f} {row['changed']:,.0f} ({row['change_rate']:.1%})" in text
        )
    for sentence in result.concepts["sentence"]:
        assert sentence in text
    for node in result.tree(3).nodes.itertuples():
        assert node.rule[1:] in text
        assert f"{node.changed:,} of {node.count:,} changed" in text
    limits = result.keep("limits", lambda: limits_of(result.scene, result.settings.fairness))
    rate = result.figures.loc["change_rate", "g"]
    assert f"{rate:.1%} of the decisions changed, nobody can do better than a P-Rule of {limits.at(rate):.3f}" in text
    assert "Licence None found for the data." in text
    assert "abc" in text
    assert to_python(result.settings) in "".join(read.texts)


def decided_about(result, words="Fair enough, and few are changed.", cell=None):
    required = Requirements(p_rule=0.5, changed=0.02, again=0.5)
    facts = facts_of(result.scene, result.decisions, result.cell, sense(result)[2])
    signature = Signature(words, words, words, date(2026, 5, 1), date(2027, 5, 1), {words: words})
    cell = cell or result.cell
    record = make_record(signature, result.scene, result.decisions, cell, "demographic_parity", required, facts)
    scene, sweep = small_sweep()
    return Decided(required, facts, (("COMMOD, best", best_under(required, scene, sweep)),), record, 37)


def test_the_report_tells_what_was_required_and_who_signed():
    result = fitted()
    decided = decided_about(result)
    read = Reader(report(result, decided=decided))
    check_self_contained(read)
    text = read.text
    for row in check_requirements(decided.requirements, decided.facts).itertuples():
        assert f"{row.wanted[0].upper()}{row.wanted[1:]} " in text
        assert row.sentence in text
    assert "At most 2% of the decisions changed ✗ fail" in text
    assert text.index("Signed by ") < text.index("The verdicts")
    assert decided.record["sha256"] in text
    assert "COMMOD, best λ_fair" in text  # beside this model and f
    assert "Search for less discriminatory alternatives" in text
    assert "We searched 37 models." in text
    assert read.tags.count("section") == 17
    other = replace(result.cell, value=9.0)
    assert "another model than that of this report: COMMOD at 9" in report(
        result, decided=decided_about(result, cell=other)
    )
    only = Reader(report(result, decided=Decided(record=decided.record)))
    assert "Requirements and verdicts" not in only.text
    assert "The decision" in only.text


def test_the_report_tells_rightly_changed_how_sure_f_was_and_what_happens_again():
    result = fitted()
    text = Reader(report(result)).text
    for row in result.record.itertuples():
        assert f"{row.count:,} {row.right:,} {row.wrong:,} " in text
    changed = result.changed_test
    again = (sense(result)[2].share[changed] >= 0.9).sum()
    assert f"in 90% of the refits or more {again:,} {again / changed.sum():.1%}" in text
    certain = certainty(result.scene.logit_test)
    assert f"90% to 100% {(certain[changed] > 0.9).sum():,} (" in text
    assert "Calibration error by group" in text


def test_hostile_words_of_a_decision_reach_no_html():
    page = report(fitted(), decided=decided_about(fitted(), words=HOSTILE))
    assert "<script" not in page
    check_self_contained(Reader(page))
    assert HOSTILE in Reader(page).text


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("name", ["law_school", "german"])
def test_the_report_is_ready_for_print(name, tmp_path):
    """A4 pages with every heading, black on white though the screen is dark, nothing beyond the edge or torn apart."""
    result = fitted(name)
    decided = decided_about(result) if name == "law_school" else NOTHING_DECIDED
    file = tmp_path / "report.html"
    file.write_text(report(result, decided=decided))
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 680, "height": 990}, color_scheme="dark")  # A4 less its margins
        page.goto(file.as_uri())
        pdf = page.pdf(prefer_css_page_size=True, outline=True, tagged=True)
        page.emulate_media(media="print", color_scheme="dark")
        style = "getComputedStyle(document.body)"
        colours = page.evaluate(f"[{style}.color, {style}.backgroundColor]")
        wide = page.evaluate("document.documentElement.scrollWidth")
        breaks = page.locator("figure, tr, .cx-card").evaluate_all(
            "all => all.map(e => getComputedStyle(e).breakInside)"
        )
        headings = page.locator("h1, h2, h3").all_inner_texts()
    assert colours == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    assert wide <= 680
    assert set(breaks) == {"avoid"}
    pages = re.findall(rb"/Type\s*/Page\b", pdf)
    assert 5 <= len(pages) <= 14
    assert set(re.findall(rb"/MediaBox\s*\[([^\]]*)\]", pdf)) == {b"0 0 594.95996 841.91998"}
    titles = [bytes.fromhex(text.decode()).decode("utf-16") for text in re.findall(rb"/Title <(FEFF[0-9A-F]*)>", pdf)]
    titles += [text.decode() for text in re.findall(rb"/Title \(([^)]*)\)", pdf)]
    for heading in headings:
        assert any(heading.split("(")[0].strip() in title for title in titles), heading


def test_a_figure_appears_in_the_report_by_its_declaration(monkeypatch):
    def hits(counts):
        return counts[..., 1, 1].sum(axis=-1) / counts.sum(axis=(-3, -2, -1))

    meaning = "Share of everybody who is decided 1 and rightly so."
    monkeypatch.setitem(FIGURES, "hits", Figure("hits", "Hits", meaning, hits, percent=True, key=True))
    by_group = Figure("share", "Share: {group}", "A share.", lambda c: c.sum(axis=(-2, -1)) / 1e4, by_group="share")
    monkeypatch.setitem(FIGURES, "share", by_group)
    result = replace(fitted())  # its figures are not made yet
    text = Reader(report(result)).text
    row = result.figures.loc["hits"]
    interval = f"[{100 * row['g_low']:.1f}, {100 * row['g_high']:.1f}]"
    assert f"Hits {row['f']:.1%} [" in text
    assert f"{row['g']:.1%} {interval}" in text
    assert f"Hits {meaning}" in text
    assert f"Share: {result.task.groups[1]} {result.figures.loc['share_1', 'g']:.3f} [" in text
    assert "Disparate mistreatment (cf. equalized odds difference)" in text


@pytest.mark.parametrize("people", [29, 30, 40, 50])
def test_few_people_are_as_many_as_on_the_page_who_changed(people):
    y = pd.Series([0, 1] * 60 + [0] * people + [1] * 60)
    sensitive = pd.Series([0] * 120 + [1] * (people + 60))
    task, nobody = fitted("german").task, np.zeros(len(y), dtype=int)
    smallest = _smallest(SimpleNamespace(task=task, scene=SimpleNamespace(test=Split(None, y, sensitive))))
    assert smallest["people"] == people
    outcomes = explain_outcomes(task, y, sensitive, nobody, nobody).set_index("count")
    assert smallest["few"] == (not outcomes.loc[people, "enough"])


@pytest.mark.slow
def test_a_small_part_is_named_in_the_report():
    text = Reader(report(fitted("german"))).text
    assert "24 applicants (25 or younger, label “bad risk”): too few to tell more than large differences" in text


def test_the_same_model_and_date_give_the_same_bytes():
    result = fitted()
    first = report(result)
    _drawings.clear()
    assert first == report(fit_result(result.settings), found=sense(result))
    assert first.replace("1 May 2026", "2 May 2026") == report(result, date="2 May 2026")


@pytest.mark.slow
def test_the_report_where_nothing_changes():
    nothing = report(fit_result(replace(defaults("law_school"), lambda_fair=0.0)))
    assert "No decision changes at this setting" in nothing
    check_self_contained(Reader(nothing))


@pytest.mark.slow  # below it is told of both decisions by default
def test_the_report_where_the_worse_outcome_is_positive():
    settings = replace(defaults("compas"), fairness="equalized_odds", f="gradient_boosting")
    text = Reader(report(fit_result(settings))).text
    assert "nobody can do better than a disparate mistreatment of" in text
    assert "the group with the higher rate is the one harmed" in text
    assert "Gradient boosting" in text


@pytest.mark.parametrize(
    ("data", "favourable"),
    [
        ("law_school", "passes the bar"),
        pytest.param("compas", "not charged again", marks=pytest.mark.slow),  # its snapshot of Explore says it
    ],
)
def test_p_rule_is_told_of_both_decisions(data, favourable):
    result = fitted(data)
    text = " ".join(Reader(report(result)).text.split())
    both = result.figures.loc[["p_rule", "p_rule_of_negative"], ["f", "g"]].to_numpy()
    negative, positive = result.task.spec.outcomes
    (f, g), (other_f, other_g) = both
    told = f"Of “{positive}” it is {f:.3f} for f and {g:.3f} for g, of “{negative}” {other_f:.3f} and {other_g:.3f}."
    assert told in text
    assert f"compares rates of the favourable decision, here “{favourable}”" in text


def hostile(result):
    """The same fit on a task whose every text is an attack."""
    task = result.task
    spec = task.spec
    features = tuple(replace(f, label=HOSTILE + f.name, unit=HOSTILE) for f in spec.features)
    spec = replace(
        spec,
        title=HOSTILE,
        features=features,
        target_label=HOSTILE,
        outcomes=(HOSTILE + "0", HOSTILE + "1"),
        sensitive=HOSTILE,
        groups=("=cmd|' /C calc'!A0", HOSTILE),
        filter=HOSTILE,
        people=HOSTILE,
    )
    datasheet = f"| Origin | `{HOSTILE}` |\n| Licence | **{HOSTILE}** |\n\n**Caveats.** {HOSTILE}\n"
    return replace(result, scene=replace(result.scene, task=replace(task, spec=spec, datasheet=datasheet)))


def test_hostile_names_reach_no_html():
    page = report(hostile(fitted()), date=HOSTILE, fingerprint=HOSTILE, code=HOSTILE)
    assert "<script" not in page
    assert "<img" not in page
    read = Reader(page)
    check_self_contained(read)
    assert HOSTILE in read.text
    assert page.count("</style>") == 1


def test_data_without_a_datasheet_and_scores_in_a_column():
    result = fitted()
    spec = replace(result.task.spec, title="my file.csv")
    task = replace(result.task, spec=spec, datasheet="", roles={"sensitive": "race <b>"})
    scene = replace(result.scene, f="my <b> score", task=task)
    text = Reader(report(replace(result, scene=scene), found=(result.evidence(), result.merit(), refits(result)))).text
    assert "No datasheet: the user uploaded the table." in text
    assert "python -m commod fit 'my file.csv' --roles roles.json" in text
    assert '"sensitive": "race <b>"' in text
    assert "scores in the column “my <b> score”" in text
    assert "test rows, which g was not trained on" in text


def test_predictions_read_back_are_those_of_the_models():
    result = fitted("compas")
    again = refits(result)
    text = predictions_csv(result, again)
    frame = pd.read_csv(io.BytesIO(text))
    test = result.scene.test
    np.testing.assert_array_equal(frame["row"], test.X.index)
    np.testing.assert_array_equal(frame["group"], np.array(result.task.groups)[test.sensitive])
    np.testing.assert_array_equal(frame["label"], test.y)
    np.testing.assert_array_equal(frame["g_decision"], result.g.predict(test.X))
    np.testing.assert_array_equal(frame["f_decision"], result.scene.f.predict(test.X))
    np.testing.assert_array_equal(frame["changed"], frame["f_decision"] != frame["g_decision"])
    np.testing.assert_allclose(frame["g_score"], result.g.predict_proba(test.X)[:, 1], rtol=0, atol=1e-6)
    np.testing.assert_allclose(frame["f_score"], result.scene.f.predict_proba(test.X)[:, 1], rtol=0, atol=1e-6)
    np.testing.assert_allclose(frame["r"], result.g.ratio(test.X), rtol=0, atol=1e-6)
    assert frame["changed"].sum() == result.changes["changed"].sum()
    np.testing.assert_array_equal(frame["right_by_record"], frame["g_decision"] == frame["label"])
    np.testing.assert_allclose(frame["f_certainty"], np.maximum(frame["f_score"], 1 - frame["f_score"]), atol=1e-6)
    np.testing.assert_allclose(frame["refits_that_change"], again.share, rtol=0, atol=1e-6)


@pytest.mark.slow  # one that counts is by default
def test_an_update_that_may_shift_is_told_in_report_and_predictions():
    result = fit_result(replace(defaults("law_school"), update="affine"))
    frame = pd.read_csv(io.BytesIO(predictions_csv(result, refits(result))))
    X = result.scene.test.X
    np.testing.assert_allclose(frame["s"], result.g.ratio_and_shift(X)[1], rtol=0, atol=1e-6)
    np.testing.assert_allclose(frame["g_score"], result.g.predict_proba(X)[:, 1], rtol=0, atol=1e-6)
    assert "s" not in pd.read_csv(io.BytesIO(predictions_csv(fitted(), refits(fitted()))))
    told = Reader(report(result)).text
    assert "Update multiply and shift" in told
    assert f"and s = {result.g.shift_intercept_:.2f}; each concept raises or lowers r or, if named" in told.replace(
        "−", "-"
    )
    assert "below 0, the decision changes" not in told
    assert "Concept 1, shift It raises the score for “passes the bar” of" in told
    plain = Reader(report(fitted())).text
    assert "Update multiply (the paper)" in plain
    assert "below 0, the decision changes" in plain
    for said in (told, plain):
        assert "its concepts give it away: Concept" in said


def test_an_update_that_counts_decisions_is_told_in_report_and_predictions():
    result = fit_result(replace(defaults("law_school"), update="decisions", lambda_fair=6.0))
    frame = pd.read_csv(io.BytesIO(predictions_csv(result, refits(result))))
    np.testing.assert_allclose(frame["balance"], result.g.balance(result.scene.test.X), rtol=0, atol=1e-6)
    assert ((frame["balance"] > 0) == frame["g_decision"]).all()
    assert not {"r", "s"} & set(frame)
    told = Reader(report(result)).text
    assert "Update count changes" in told
    assert "The balance starts at −" in told
    assert "each concept raises or lowers" in told
    assert "takes back" not in told
    best = result.concepts["auc"].max()
    assert f"give it away: {result.concepts['auc'].idxmax()} alone tells the groups apart (AUC {best:.2f} [" in told


def test_predictions_on_an_uploaded_file_name_its_lines():
    assert "line" not in pd.read_csv(io.BytesIO(predictions_csv(fitted(), None)))
    scene = fitted().scene
    task = replace(scene.task, roles={"target": "pass_bar"})
    frame = pd.read_csv(io.BytesIO(predictions_csv(replace(fitted(), scene=replace(scene, task=task)), None)))
    np.testing.assert_array_equal(frame["line"], scene.test.X.index + 2)  # headings in line 1, and lines count from 1


def test_predictions_hold_no_formula():
    result = hostile(fitted())
    index = pd.Index(["@SUM(1)", *(f"-{i}" for i in range(len(result.scene.test) - 1))])
    test = replace(result.scene.test, X=result.scene.test.X.set_axis(index))
    renamed = replace(result, scene=replace(result.scene, test=test))
    frame = pd.read_csv(io.BytesIO(predictions_csv(renamed, refits(fitted()))))
    assert not frame["row"].str.match(r"[=+\-@\t\r]").any()
    assert set(frame["group"]) == {"'=cmd|' /C calc'!A0", HOSTILE}


def test_every_export_opens(capsys, tmp_path, monkeypatch):
    result = fitted()
    offered = take_home.exports(result, result.settings)
    made = {export.title: export.make() for export in offered}
    assert list(made) == ["Report", "Predictions", "Impact ratios", "Model card", "Model", "Loader", "Recipe"]
    assert all(re.fullmatch(r"[a-z_]+\.(html|csv|md|py|json)", export.name) for export in offered)
    X = result.scene.test.X
    # the model, with the loader that came along
    (tmp_path / take_home.LOADER).write_bytes(made["Loader"])
    (tmp_path / file_name(result, "model", "json")).write_bytes(made["Model"])
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    usage = {}
    exec(compile(take_home._usage(result), "usage", "exec"), usage)
    printed = capsys.readouterr().out
    np.testing.assert_allclose(usage["g"].predict_proba(X), result.g.predict_proba(X), rtol=0, atol=1e-9)
    assert printed.startswith(f"[{result.g.predict(X.iloc[[0]])[0]}]")
    assert json.loads(made["Model"])["about"]["data"] == "Law School (balanced)"
    # the code, which prints the figures of the report
    copied = {}
    exec(compile(made["Recipe"], "copied", "exec"), copied)
    figures = copied["evaluate"](copied["task"], copied["f"], copied["g"], copied["test"])
    for name in ("accuracy", "p_rule", "change_rate"):
        assert figures.loc[name, "g"] == pytest.approx(result.figures.loc[name, "g"], abs=1e-12)
    # the report names the file
    assert hashlib.sha256(made["Model"]).hexdigest() in made["Report"].decode()


def test_names_of_files_are_safe():
    def named(title):
        result = fitted()
        task = replace(result.task, spec=replace(result.task.spec, title=title))
        scene = replace(result.scene, task=task)
        return replace(result, scene=scene, settings=replace(result.settings, data="own-0123"))

    assert file_name(named("../../etc/passwd\n%00<b>"), "model", "json") == "commod_etc_passwd_00_b_model.json"
    assert file_name(named("é"), "x", "py") == "commod_data_x.py"
    assert file_name(fitted(), "x", "py") == "commod_law_school_x.py"


def test_the_page_offers_seven_files_for_the_model_of_the_sliders():
    app = fine(run(PAGE))
    labels = ["Report (HTML)", "Predictions (CSV)", "Impact ratios (CSV)", "Model card (Markdown)", "Model (JSON)"]
    assert [b.label for b in app.get("download_button")] == [*labels, "Loader (Python)", "Recipe (Python)"]
    (code,) = (block.value for block in app.main.code)
    assert "from commod_portable import load" in code
    assert app.query_params["data"] in ("law_school", ["law_school"])
    fine(slider(app, "lambda_fair").set_value(1.0).run())
    assert any("λ\\_fair 1," in caption.value for caption in app.caption)


def test_files_that_need_no_refits_do_not_wait_for_them(monkeypatch):
    waiting = []
    monkeypatch.setattr(take_home, "get", lambda task: None)
    monkeypatch.setattr(take_home, "draw_pending", lambda *parts: waiting.extend(filter(None, parts)))
    labels = [button.label for button in fine(run(PAGE)).get("download_button")]
    assert labels[0] == "Impact ratios (CSV)"
    assert "Model (JSON)" in labels
    assert {"Report (HTML)", "Predictions (CSV)"}.isdisjoint(labels)
    assert len(waiting) == 2


def test_the_page_with_another_base_model_and_a_bad_link():
    app = fine(run(PAGE, data="german", f="gradient_boosting", lambda_fair="nan"))
    assert app.warning
    assert "f is included" in words(app)


def test_a_page_without_a_server_is_made_when_asked_for(monkeypatch):
    tiny = {"lambda_fair": (0.0,), "lambda_ratio": (0.05,), "lambda_concepts": (0.05,), "k": (2,), "update": ("ratio",)}
    monkeypatch.setattr(standalone.settings_on_page, "__defaults__", (tiny,))
    app = fine(run(PAGE))
    fine(app.button(key="make_page").click().run())
    assert "Page (HTML)" in [button.label for button in app.get("download_button")]
    assert not app.checkbox  # the rows of built-in data are a matter of their licence
