"""Concepts as HTML."""

import pandas as pd

from commod.dashboard.text.html import concept_cards


def test_a_concept_that_nobody_shows_says_nothing_of_them():
    loadings = pd.DataFrame({"concept": ["C1", "C1"], "label": ["Age <b>", "LSAT"], "loading": [-0.5, 0.25]})
    concepts = pd.DataFrame(
        {
            "weight": [0.3, 0.0],
            "features": [2, 0],
            "activated": [0, 0],
            "others": [40, 40],
            "changed_activated": [pd.NA, pd.NA],
            "changed_others": [0.125, pd.NA],
            "sentence": ["It says so.", "Empty."],
        },
        index=["C1", "C2"],
    ).astype({"changed_activated": "Float64", "changed_others": "Float64"})
    html = concept_cards(loadings, concepts, "students")
    assert "who show it most" not in html
    assert "Changed among the 40 others</th><td>12.5%" in html
    assert "Age &lt;b&gt;" in html
    assert "−0.50" in html
    assert "1 of 2 concepts has no weight" in html
