"""One file feeds all tooltips."""

import ast
import re
import string
from pathlib import Path

import pytest

from commod.dashboard.text import glossary
from tests.browsing import ROOT

SOURCES = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py")), *sorted((ROOT / "commod/dashboard").rglob("*.py"))]
WORDS, HINTS = glossary._file()


def literals(node):
    """Texts written into an expression, but for the arguments of calls."""
    if isinstance(node, ast.Call):
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.strip():
        yield node.value
    for child in ast.iter_child_nodes(node):
        yield from literals(child)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.name)
def test_no_tooltip_is_written_into_the_code(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.keyword) and node.arg == "help":
            assert not list(literals(node.value)), f"line {node.value.lineno}: put the text into glossary.toml"


def test_every_entry_is_used_and_every_use_has_an_entry():
    text = "\n".join(Path(path).read_text() for path in SOURCES)
    asked = set(re.findall(r"""\btip\(\s*["'](\w+)["']""", text))
    assert asked <= {*WORDS, *HINTS}
    unused = set(HINTS) - asked
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
    assert glossary.tip("positive_by", model="f") == "How many f decides so."
