"""Numbers in README and docs are those that their commands gave."""

import json
import re

import pytest

from tests.numbers import DOCUMENTS, MARKED, NUMBERS, ROOT, STORED, filled

pytestmark = pytest.mark.quick

# Too long to run since they were written: what documents say of these is older, and not marked.
NOT_RUN = {"nobody_loses", "minima_found", "targets_held"}
NOT_RUN |= {"later_rivals_p_rule", "later_rivals_dm"}
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


DURATION = re.compile(r"\d (?:ms|s)\b")


def test_every_time_in_benchmarks_names_its_machine_and_day():
    sections = (ROOT / "docs" / "benchmarks.md").read_text().split("\n## ")[1:]
    timed = [section for section in sections if DURATION.search(section)]
    assert len(timed) >= 7
    for section in timed:
        assert re.search(r"(Neoverse-N1|Xeon).*\d+ November", section), section.splitlines()[0]
