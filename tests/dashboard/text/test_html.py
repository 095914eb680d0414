"""Tables, concepts, trees and legends as HTML."""

import base64
import re

import numpy as np
import pandas as pd
import pytest

from commod.charts import MethodStyle
from commod.dashboard.text.html import concept_cards, html_columns, html_legend, html_table, tree_list
from commod.explain import ChangeTree

pytestmark = pytest.mark.quick


def test_a_concept_that_nobody_shows_says_nothing_of_them():
    loadings = pd.DataFrame({"concept": ["C1", "C1"], "label": ["Age <b>", "LSAT"], "contribution": [-0.5, 0.25]})
    concepts = pd.DataFrame(
        {
            "part": ["r", "r"],
            "weight": [0.3, 0.0],
            "features": [2, 0],
            "activated": [0, 0],
            "others": [40, 40],
            "changed_activated": [pd.NA, pd.NA],
            "changed_others": [0.125, pd.NA],
            "auc": [0.625, float("nan")],
            "low": [0.5, float("nan")],
            "high": [0.75, float("nan")],
            "group": ["", ""],
            "sentence": ["It says so.", "Empty."],
        },
        index=["C1", "C2"],
    ).astype({"changed_activated": "Float64", "changed_others": "Float64"})
    html = concept_cards(loadings, concepts)
    assert "who show it most" not in html
    assert "Age &lt;b&gt;" in html
    assert "lowers it by 0.50" in html
    assert "1 of 2 concepts has no weight" in html
    tiny = concept_cards(pd.concat([loadings, loadings.assign(label="Sex", contribution=0.004)]), concepts)
    assert "by 0.00" not in tiny
    assert "and 2 smaller ones" in tiny


HOSTILE = "<script>alert(1)</script>&\"'"


def test_no_text_is_markup():
    nodes = pd.DataFrame(
        {
            "node": [0, 1, 2],
            "parent": [-1, 0, 0],
            "rule": ["everyone", HOSTILE, "b"],
            "count": [4000, 3000, 1000],
            "changed": [1, 0, 1],
            "share": [0.00025, 0.0, 0.001],
            "predicts": [False, False, True],
        }
    )
    tree = tree_list(ChangeTree(nodes, 0.5, pd.DataFrame(), np.zeros(0)))
    table = html_table({HOSTILE: HOSTILE, "b": ""}, [[HOSTILE, HOSTILE]], caption=HOSTILE, text={0}, marked={(0, 0)})
    legend = html_legend([MethodStyle(HOSTILE, "#D55E00", "circle")])
    for html in (tree, table, legend, html_columns([(HOSTILE, HOSTILE, "<p>ours</p>")])):
        assert "<script" not in html
        assert "&lt;script&gt;" in html
    assert "Everyone" in tree
    assert "1 of 4,000 changed (&lt;1%)" in tree
    assert "· learnt as “changed”" in tree
    assert tree.count("<ul") == tree.count("</ul>") == 2
    assert '<th scope="row" class="cx-marked cx-text">&lt;script' in table
    drawing = base64.b64decode(re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', legend)[1]).decode()
    assert drawing.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert "<p>ours</p>" in html_columns([("a", "b", "<p>ours</p>")])


def test_a_cell_is_written_as_it_stands():
    html = html_table(["a", "b"], [["x", "1\n[0, 2]"]], caption="c")
    assert '<tbody><tr><th scope="row">x</th><td>1\n[0, 2]</td></tr></tbody>' in html
    assert "What the headings mean" not in html
    assert "<dt>a</dt><dd>first</dd></dl>" in html_table({"a": "first", "b": ""}, [], caption="c")
