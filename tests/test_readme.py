"""The README is true: its commands are those of CI, its ten lines run, its picture is there and small."""

import re

from commod.models.competitors import overview
from tests.browsing import ROOT

README = (ROOT / "README.md").read_text()


def test_ci_runs_the_command_of_the_readme():
    command = (
        "python3 -m venv .venv && .venv/bin/pip install -q -r requirements-dev.txt && .venv/bin/python -m pytest -n 2"
    )
    assert command in README
    assert command in (ROOT / ".ci" / "run").read_text()
    assert ".venv/bin/streamlit run app.py" in README


def test_the_ten_lines_run(capsys):
    code = re.search(r"## Ten lines\n\n```python\n(.*?)```", README, re.DOTALL)[1]
    exec(compile(code, "README", "exec"), {})
    assert "p_rule" in capsys.readouterr().out


def test_the_lines_on_other_methods_run():
    ten = re.search(r"## Ten lines\n\n```python\n(.*?)```", README, re.DOTALL)[1].split("g = Commod")[0]
    code = re.search(r"## The other methods\n.*?```python\n(.*?)```", README, re.DOTALL)[1]
    exec(compile(ten + code, "README", "exec"), {})


def test_counts_of_methods_are_true():
    runs = overview()["runs"].eq("yes")
    assert f"{runs.sum()} of its {len(runs)} rows run here" in README


def test_picture_and_links_exist_and_no_placeholder_is_left():
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / target).exists(), target
    assert (ROOT / "docs" / "explore.png").stat().st_size < 300_000
    assert not re.findall(r"@[A-Z_]+@", README)


def test_every_pin_is_exact():
    for name in ("requirements.txt", "requirements-dev.txt"):
        for line in (ROOT / name).read_text().splitlines():
            assert re.fullmatch(r"-r requirements\.txt|[a-z0-9-]+==[\w.]+", line), line
    assert "torch==2.13.0" in (ROOT / "requirements.txt").read_text().splitlines()
