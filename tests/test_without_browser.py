"""On a machine without Chromium."""

from types import SimpleNamespace

import pytest

from tests import browsing, conftest

IN_A_BROWSER = SimpleNamespace(get_closest_marker={"browser": True}.get)
ELSEWHERE = SimpleNamespace(get_closest_marker={}.get)


@pytest.fixture(autouse=True)
def without_chromium(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browsing.chromium_path() is None


def test_tests_in_a_browser_are_skipped_with_a_sentence_and_others_are_not(monkeypatch):
    monkeypatch.delenv("COMMOD_REQUIRE_BROWSER", raising=False)
    with pytest.raises(pytest.skip.Exception, match="Chromium is not installed"):
        conftest.pytest_runtest_setup(IN_A_BROWSER)
    conftest.pytest_runtest_setup(ELSEWHERE)


def test_where_they_may_not_be_skipped_they_fail(monkeypatch):
    monkeypatch.setenv("COMMOD_REQUIRE_BROWSER", "1")
    with pytest.raises(pytest.fail.Exception, match="may not be skipped"):
        conftest.pytest_runtest_setup(IN_A_BROWSER)
