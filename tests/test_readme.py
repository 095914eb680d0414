"""README and docs are true: their commands are those of CI, their Python runs, and what they point to is there."""

import importlib.util
import re
from shutil import copy

import pytest

from commod.models.competitors import overview_in_words
from commod.models.export import portable_json
from tests.browsing import ROOT

README = (ROOT / "README.md").read_text()
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
METHODS = (ROOT / "docs" / "methods.md").read_text()
# A block of ```python is run as it stands; ```py is a fragment of a file.
TEN_LINES = re.search(r"## Ten lines\n\n```python\n(.*?)```", README, re.DOTALL)[1]


def by_name(path):
    return path.name


def headings(text):
    """The anchors of a document's headings, as they are made of them in a link."""
    outside = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", outside, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_ci_runs_the_command_of_the_readme():
    command = (
        "python3 -m venv .venv && .venv/bin/pip install -q -r requirements-dev.txt && .venv/bin/python -m pytest -n 3"
    )
    assert command in README
    assert command in (ROOT / ".ci" / "run").read_text()
    assert ".venv/bin/streamlit run app.py" in README


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 110


@pytest.fixture(scope="module")
def after_ten_lines():
    """The names that the README's ten lines leave behind."""
    names = {}
    exec(compile(TEN_LINES, "README", "exec"), names)
    return names


def test_the_ten_lines_run(capsys):
    exec(compile(TEN_LINES, "README", "exec"), {})
    assert "p_rule" in capsys.readouterr().out


CODE = {path: re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL) for path in DOCUMENTS[1:]}
# Those of methods.md train every method.
WITH_CODE = [
    pytest.param(path, marks=[pytest.mark.slow] * (path.name == "methods.md")) for path, code in CODE.items() if code
]


@pytest.mark.parametrize("path", WITH_CODE, ids=by_name)
def test_python_in_the_docs_runs(path, after_ten_lines, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, test = dict(after_ten_lines), after_ten_lines["test"]
    (tmp_path / "model.json").write_text(portable_json(names["g"]))
    test.X.assign(pass_bar=test.y, race=test.sensitive).to_csv(tmp_path / "later.csv")
    copy(ROOT / "tests" / "old_files" / "decision.json", tmp_path)
    for code in CODE[path]:
        exec(compile(code, path.name, "exec"), names)
    assert names.keys() > after_ten_lines.keys()


def test_the_lines_on_other_methods_and_on_targets_are_among_them():
    for section in ("The other methods", "Limits and targets"):
        assert re.search(rf"## {section}\n.*?```python\n(.*?)```", METHODS, re.DOTALL)


def test_counts_of_methods_are_true():
    assert overview_in_words() in METHODS


def test_picture_is_small_and_no_placeholder_is_left():
    assert "](docs/explore.png)" in README
    assert (ROOT / "docs" / "explore.png").stat().st_size < 300_000
    for path in DOCUMENTS:
        assert not re.findall(r"@[A-Z_]+@|TODO|FIXME", path.read_text()), path.name


@pytest.mark.parametrize("path", DOCUMENTS, ids=by_name)
def test_every_link_leads_somewhere(path):
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        found = path.parent / name if name else path
        assert found.exists(), target
        if anchor:
            assert anchor in headings(found.read_text()), target


@pytest.mark.parametrize("path", DOCUMENTS, ids=by_name)
def test_every_module_and_file_that_is_named_exists(path):
    text = path.read_text()
    for module in re.findall(r"python -m ([\w.]+)", text):
        assert importlib.util.find_spec(module), module
    new = re.findall(r"New file `([^`]+)`", text)
    for name in re.findall(r"`((?:commod|tests|pages|docs|data|examples|\.streamlit)/[\w./-]*)`", text):
        if name in new:
            continue
        assert (ROOT / name).exists(), name
    for test_file in re.findall(r"pytest [^`\n]*?(tests/[\w/.]+)", text):
        assert (ROOT / test_file).exists(), test_file


def test_every_pin_is_exact():
    for name in ("requirements.txt", "requirements-dev.txt"):
        for line in (ROOT / name).read_text().splitlines():
            assert re.fullmatch(r'-r requirements\.txt|[a-z0-9-]+==[\w.]+(?: ; sys_platform != "win32")?', line), line
    assert "torch==2.13.0" in (ROOT / "requirements.txt").read_text().splitlines()
