"""Numbers in README and docs are those that their commands gave."""

import json

import pytest

from tests.numbers import DOCUMENTS, MARKED, NUMBERS, STORED, filled

pytestmark = pytest.mark.quick

# Too long to run since they were written: what documents say of these is older, and not marked.
NOT_RUN = {"nobody_loses", "minima_found", "targets_held", "interval_coverage"}
KEPT = json.loads(STORED.read_text())


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_documents_say_what_is_stored(path):
    text = path.read_text()
    assert filled(text, KEPT) == text, "write it again with: python -m tests.numbers"


def test_every_number_has_a_command_and_a_place():
    marked = {name for path in DOCUMENTS for _, name, _, _ in MARKED.findall(path.read_text())}
    assert marked == KEPT.keys() == NUMBERS.keys() - NOT_RUN


def test_another_number_is_noticed():
    assert filled("<!-- numbers: some -->1 of 2<!-- end -->", {"some": "3 of 4"}) == (
        "<!-- numbers: some -->3 of 4<!-- end -->"
    )


@pytest.mark.parametrize("name", ["beaten_by_bayes", "beaten_everywhere", "fairest_quarter", "r_squared", "tuned_odds"])
def test_what_is_quick_to_count_is_counted_again(name):
    assert NUMBERS[name]() == KEPT[name]
