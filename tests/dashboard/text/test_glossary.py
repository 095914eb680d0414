"""One file feeds all tooltips, and what it says in numbers is so."""

import ast
import re
import string
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from commod.dashboard.model.training import fit_result
from commod.dashboard.state.settings import CONTROLS, defaults
from commod.dashboard.text import glossary
from commod.metrics.counts import MIN_GROUP, SCARCE
from commod.metrics.figures import FIGURES, Figure
from commod.models import Commod, prices
from commod.models.adversary import sigmoid
from commod.models.validation import UPDATES
from tests.browsing import ROOT

SOURCES = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py")), *sorted((ROOT / "commod/dashboard").rglob("*.py"))]
TEXTS = [ROOT / "README.md", *(p for ending in ("*.toml", "*.html") for p in (ROOT / "commod").rglob(ending))]
WORDS, HINTS = glossary.words(), glossary._file()["hint"]


def literals(node):
    """Texts written into an expression, but for the arguments of calls and what is compared."""
    if isinstance(node, ast.Call | ast.Compare):
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.strip():
        yield node.value
    for child in ast.iter_child_nodes(node):
        yield from literals(child)


def test_no_tooltip_is_written_into_the_code():
    assert len(SOURCES) > 100
    wrong = [f"{path.relative_to(ROOT)}:{line}" for path in SOURCES for line in lines_with_a_tooltip(path)]
    assert not wrong, "put these texts into glossary.toml"


def lines_with_a_tooltip(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.keyword) and node.arg == "help" and any(literals(node.value)):
            yield node.value.lineno


def test_every_entry_is_used_and_every_use_has_an_entry():
    text = "\n".join(Path(path).read_text() for path in SOURCES)
    asked = set(re.findall(r"""\btip\(\s*["'](\w+)["']""", text))
    assert asked <= {*WORDS, *HINTS}
    of_forms = {f"{known.word}_{update}" for known in CONTROLS.values() for update in UPDATES}
    unused = set(HINTS) - asked - of_forms
    assert not unused


def test_words_have_no_gaps_and_are_sentences():
    for name, word in WORDS.items():
        assert not [field for _, field, _, _ in string.Formatter().parse(word.tip) if field], name
        assert word.title
        assert word.tip.endswith("."), name
        assert len(word.tip) < 240, name
    for name, hint in HINTS.items():
        assert hint.endswith("."), name
        assert name not in WORDS
    assert "30 students" in glossary.tip("few_people", few=30, people="students")


def test_the_auc_begins_with_how_to_read_it():
    read, _, _ = glossary.tip("auc_of_group").partition("AUC:")
    assert "0.5 is" in read
    assert "1 is" in read


def test_figures_are_words_by_their_declaration(monkeypatch):
    declared = glossary.chapters()["Figures"].values()
    assert [word.title for word in declared][:2] == ["Accuracy", "AUC of the scores"]
    assert "Disparate mistreatment (cf. equalized odds difference)" in [word.title for word in declared]
    assert not [word.title for word in declared if "{" in word.title or "…" in word.title]
    monkeypatch.setitem(FIGURES, "new", Figure("new", "New figure", "It is new.", lambda counts: 0 * counts))
    assert glossary.Word("New figure", "Figures", "It is new.") in glossary.chapters()["Figures"].values()
    assert glossary.tip("new") == "It is new."
    assert "New figure" in glossary.with_tooltips(["This is the [[new]]."])


def test_words_of_a_text_are_explained_and_escaped():
    html = glossary.with_tooltips(["**Bold** & [[p_rule]], [[accuracy|right & <fair>]]"])
    assert '<p class="cx-said"><strong>Bold</strong> &amp; <dfn class="cx-word" tabindex="0">P-Rule<span role=' in html
    assert "right &amp; &lt;fair&gt;<span" in html
    assert glossary.without_tooltips("[[p_rule]] and [[accuracy|this]]") == "P-Rule and this"


# ---- what the words say in numbers ----


def test_the_ratio_in_odds():
    found = re.findall(r"with r = ([−\d.]+) they are .*?(\d+) to (\d+) \((\d+) %\)", WORDS["ratio"].more)
    assert len(found) == 3
    assert "f gives 80 %, odds of 4 to 1" in WORDS["ratio"].more
    for r, for_it, against, score in found:
        odds = 4 ** float(r.replace("−", "-"))
        assert odds == pytest.approx(int(for_it) / int(against))
        assert round(100 * odds / (1 + odds)) == int(score)


def test_nobody_says_that_the_score_is_multiplied():
    wrong = re.compile(r"multiplies the \W*score|score of f is multiplied|f's score is multiplied|score times a")
    texts = {path: " ".join(path.read_text().split()) for path in (*SOURCES, *TEXTS)}
    assert not [path for path, text in texts.items() if wrong.search(text)]


def test_scores_move_as_soon_as_fairness_counts():
    """By as much as ``python -m tests.numbers small_lambda`` has found on ten splits."""
    more, most = WORDS["lambda_fair"].more, {"law_school": 7, "compas": 27}
    assert f"by up to {most['law_school']} on the law school data and {most['compas']} on COMPAS" in more
    for data, points in most.items():
        result = fit_result(replace(defaults(data), lambda_fair=0.001))
        assert not result.changed_test.any()
        moved = 100 * np.abs(sigmoid(result.logit) - sigmoid(result.scene.logit_test))
        assert 0.3 < moved.mean() < 1.7
        assert 1 < moved.max() < points + 0.5


def test_staying_near_f_can_change_more_decisions():
    start = replace(defaults("compas"), lambda_fair=2.0)
    one, two = (fit_result(replace(start, lambda_ratio=value)) for value in (0.0, 0.05))
    moves = [100 * np.abs(result.scores - result.scene.scores_test).mean() for result in (one, two)]
    assert WORDS["lambda_ratio"].more.startswith(
        f"On COMPAS at λ_fair = 2, going from 0 to 0.05 moves scores by {moves[1]:.1f} points on average instead of "
        f"{moves[0]:.1f}, yet changes {two.changed_test.sum()} decisions instead of {one.changed_test.sum()} "
        "(test part)."
    )


def test_sparsity_moves_fairness():
    more, docstring = WORDS["lambda_concepts"].more, " ".join(Commod.__doc__.split())
    start = replace(defaults("law_school"), lambda_fair=4.0)
    one, two = (fit_result(replace(start, lambda_concepts=value)) for value in (0.01, 1.0))
    p_rules, accuracies = (
        [float(result.figures.loc[name, "g"]) for result in (one, two)] for name in ("p_rule", "accuracy")
    )
    assert f"P-Rule from {p_rules[0]:.2f} to {p_rules[1]:.2f}" in more
    assert f"changed decisions from {one.changed_test.sum()} to {two.changed_test.sum()}" in more
    assert f"accuracy from {100 * accuracies[0]:.0f} % to {100 * accuracies[1]:.0f} %" in more
    assert f"from 0.01 to 1, P-Rule on test goes from {p_rules[0]:.2f} to {p_rules[1]:.2f}" in docstring


def test_the_four_fifths_rule_and_compas():
    figures = fit_result(replace(defaults("compas"), lambda_fair=0.0)).figures["f"]
    told = f"f's P-Rule is {figures['p_rule']:.2f}, but {figures['p_rule_of_negative']:.2f} for “not charged"
    assert told in WORDS["four_fifths"].more


def test_a_small_group_is_one_that_figures_leave_out():
    assert glossary.tip("small_group").startswith(f"A group of fewer than {MIN_GROUP} test people ({SCARCE}, ")


def test_sliders_are_explained_in_the_form_that_is_chosen():
    assert glossary.tip("lambda_fair", update="ratio") == glossary.tip("lambda_fair")
    assert "10: equal rates" in glossary.tip("lambda_fair", update="decisions")
    assert "At 0.05 it costs as much as an error" in glossary.tip("lambda_ratio", update="decisions")
    assert glossary.tip("k", update="decisions") == glossary.tip("k")


def test_a_change_costs_as_many_errors_as_the_tooltip_says():
    assert 0.05 * prices.CHANGE_PRICE == 1.0  # as much as an error
    assert prices.PARITY == 10.0


def test_words_are_found_by_their_titles_first_then_by_what_is_said_of_them():
    found = glossary.search("calibre", "fr")
    assert found == glossary.search(" CALIBRÉ", "fr")
    assert {"record", "calibration_error"} <= set(found)
    assert "calibration_error" in glossary.search("erreur de cal", "fr")[:2]
    odds = glossary.search("odds")
    assert odds.index("equalized_odds") < odds.index("logit")
    assert not glossary.search("(zzz")


@pytest.mark.parametrize(
    ("asked", "name", "language"),
    [
        ("prox", "proxy", "en"),
        ("count changes", "count_changes", "en"),
        ("Bayes rule", "bayes", "en"),
        ("precision", "precision", "en"),
        ("Fisher", "fisher", "en"),
        ("proxy", "proxy", "fr"),
        ("compter les", "count_changes", "fr"),
        ("règle de Bayes", "bayes", "fr"),
        ("précision", "precision", "fr"),
    ],
)
def test_a_word_that_pages_use_leads_to_its_own_entry_first(asked, name, language):
    assert glossary.search(asked, language)[0] == name
