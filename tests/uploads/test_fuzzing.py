"""Fifty uploads in the suite, by the ten thousand with the slow tests (`python -m tests.fuzzing`)."""

import pytest

from tests.fuzzing import KINDS, fuzz_uploads


@pytest.mark.slow
def test_hostile_uploads_give_a_table_or_a_sentence():
    count = fuzz_uploads(50)
    assert sum(files for (what, _), files in count.items() if what == "tried") == 50
    assert {kind for what, kind in count if what == "tried"} == set(KINDS)
    assert {outcome for what, outcome in count if what == "became"} >= {"refused when read", "a task, trained on"}


@pytest.mark.slow
def test_ten_thousand_hostile_uploads():
    count = fuzz_uploads(10_000, seed=1)
    assert sum(files for (what, _), files in count.items() if what == "became") == 10_000
