"""The reference has every public name, the tutorial runs, and the examples of docs/contributing.md work."""

import inspect
import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from importlib import import_module

import altair as alt
import pytest

import commod
from tests.browsing import ROOT

ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()
CONTRIBUTING = (ROOT / "docs" / "contributing.md").read_text()
BLOCK = re.compile(
    r"^(?:New file|In) `(?P<path>[^`]+)`"
    r"(?:, (?P<where>before|after|instead of|at the end of) `(?P<anchor>[^`]+)`)?:\n\n"
    r"```\w+\n(?P<text>.*?)```$",
    re.DOTALL | re.MULTILINE,
)
# Run in the copy, once everything has been added to it.
PROMISED = """
from commod.cli import main
from commod.dashboard.state.settings import Settings
from tests.dashboard.driving import figure, fine, run, slider

page = fine(run("pages/flips.py", data="applicants"))
assert page.title[0].value == "Which way did they go?"
assert figure(page, "Accuracy of the worse served group") != figure(page, "Accuracy")
fine(slider(page, "sparsity").set_value(0.0).run())
assert page.query_params["sparsity"] == "0"
assert Settings(sparsity=0.0).commod_arguments()["sparsity_weight"] == 0.0
explore = fine(run())
assert float(figure(explore, "Median distance from f's cut-off (logits)")) > 0
glossary = " ".join(element.value for element in fine(run("pages/glossary.py")).markdown)
assert "Weight of sparsity" in glossary and "worse served" in glossary
assert main(["compare", "applicants", "--methods", "shift", "--jobs", "1"]) == 0
"""


def test_the_reference_has_every_public_name_with_a_docstring():
    packages = [found.name for found in pkgutil.walk_packages(commod.__path__, "commod.") if found.ispkg]
    packages = ["commod", *(name for name in packages if not name.startswith("commod.dashboard"))]
    pages = "".join(path.read_text() for path in (ROOT / "docs" / "reference").glob("*.md"))
    shown = set(re.findall(r"^::: ([\w.]+)", pages, re.MULTILINE))
    assert {name for name in packages if hasattr(import_module(name), "__all__")} <= shown
    for name in shown:
        module = import_module(name)
        public = [getattr(module, each) for each in module.__all__]
        assert not [each for each in public if callable(each) and not inspect.getdoc(each)], name


def run_notebook(name, capsys):
    """Run the cells; return what they define, and check what they print."""
    cells = json.loads((ROOT / "docs" / name).read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    names, renderer = {}, alt.renderers.active
    try:
        for cell in code:
            exec(compile("".join(cell["source"]), name, "exec"), names)
    finally:
        alt.renderers.enable(renderer)
    printed = [line for cell in code for out in cell["outputs"] if "text" in out for line in out["text"]]
    assert capsys.readouterr().out == "".join(printed), "run its cells again (docs/contributing.md)"
    return names


def test_the_tutorial_runs(capsys):
    names = run_notebook("tutorial.ipynb", capsys)
    assert names["trade_off"].groupby("update")["p_rule"].max().gt(0.9).all()


def test_the_figures_of_the_paper_are_drawn(capsys):
    table = run_notebook("paper.ipynb", capsys)["table"]
    assert len(table) == 12
    assert (table["r_squared"] < table["printed"]).sum() > 6


def test_no_line_of_the_documents_is_too_long():
    documents = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    lines = {path.name: [len(line) for line in path.read_text().splitlines()] for path in documents}
    assert not {name: max(lengths) for name, lengths in lines.items() if max(lengths, default=0) > 200}


def test_a_slider_move_takes_twenty_names_at_most_and_all_exist():
    section = re.search(r"## A slider move\n(.*?)\n## ", ARCHITECTURE, re.DOTALL)[1]
    rows = re.findall(r"^\| (?!name|---)(.*?) \|", section, re.MULTILINE)
    assert 10 < len(rows) <= 20
    drawing = re.search(r"```\n(.*?)```", section, re.DOTALL)[1]
    words = re.findall(r"\b[A-Za-z_]+(?:[._][A-Za-z_]+)+|\b[A-Z][a-z]+[A-Z]\w*", drawing)
    names = {word.rpartition(".")[2] for word in (*words, *re.findall(r"`(\w+)`", " ".join(rows)))}
    names -= {"js", "session", "tasks"}  # a file and two modules
    sources = "".join(path.read_text() for path in (ROOT / "commod").rglob("*.py"))
    assert not [name for name in names if not re.search(rf"(?:def|class) {name}\b", sources)]


@pytest.mark.slow
def test_the_worked_examples_work(tmp_path):
    for name in ("commod", "tests", "pages", "data", ".streamlit"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("app.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    blocks = list(BLOCK.finditer(CONTRIBUTING))
    assert len(blocks) == CONTRIBUTING.count("\nIn `") + CONTRIBUTING.count("\nNew file `") > 10
    for block in blocks:
        _apply(block, tmp_path)
    _run(tmp_path, "-c", MAKE_DATA)
    _run(tmp_path, "-c", PROMISED)
    _run(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", *CHOSEN)


# What `data.rebuild` does for all data sets, of which the others have to be fetched.
MAKE_DATA = """
import hashlib, json
from pathlib import Path
from data.rebuild import _applicants

file, sums = Path("data/applicants.parquet"), Path("data/checksums.json")
_applicants().reset_index(drop=True).to_parquet(file, index=False)
known = json.loads(sums.read_text()) | {file.name: hashlib.sha256(file.read_bytes()).hexdigest()}
sums.write_text(json.dumps(known))
"""
CHOSEN = [
    "tests/models/competitors/test_shift.py",
    "tests/datasets/test_tasks.py::test_task_is_what_its_declaration_says[applicants]",
    "tests/datasets/test_tasks.py::test_datasheet_states_the_true_sizes[applicants]",
    "tests/test_structure.py",
]


def _apply(block, folder):
    path, text = folder / block["path"], block["text"]
    if not block["where"]:
        assert not path.exists(), path
        path.write_text(text)
        return
    lines = path.read_text().splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if line.lstrip().startswith(block["anchor"])]
    assert len(places) == 1, f"{block['anchor']} stands {len(places)} times in {block['path']}"
    text += "\n\n" if text.startswith("def ") else ""  # which a formatter takes off at the end of a block
    place = places[0] + (block["where"] == "after")
    if block["where"] == "at the end of":  # a dict made of a tuple of declarations
        place = lines.index("    )\n", place)
    lines[place : place + (block["where"] == "instead of")] = [text]
    path.write_text("".join(lines))


def _run(folder, *arguments):
    left_out = ("PYTEST_", "COMMOD_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    environment |= {"COMMOD_PROCESSES": "0", "COMMOD_WARM_UP": "0"}
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
