"""A server does not start without the settings on which its promises rest."""

import os
import subprocess
import sys
import tomllib

import pytest
import streamlit as st

from commod import launch
from commod.dashboard.server import startup
from commod.dashboard.server.startup import PROMISED, check_server_settings
from commod.installation import unreadable_settings
from tests.browsing import ROOT

pytestmark = pytest.mark.quick

SHIPPED = ROOT / ".streamlit" / "config.toml"


def test_the_file_that_is_shipped_says_what_is_promised():
    shipped = tomllib.loads(SHIPPED.read_text())
    for option, value in PROMISED.items():
        section, name = option.split(".")
        assert shipped[section][name] == value


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[server]\nmaxUploadSize = \n", "at line 2, column 17"),
        (b"[server\n", "at line 1"),
        (b"\xff\xfe", "decode byte 0xff"),
    ],
)
def test_a_broken_file_is_named_with_its_line(tmp_path, content, words):
    path = tmp_path / "config.toml"
    assert unreadable_settings([path]) == ""  # not there
    path.write_bytes(content)
    told = unreadable_settings([SHIPPED, path])
    assert told.startswith(f"{path} cannot be read: ")
    assert words in told
    assert "\n" not in told


def test_a_start_without_the_file_or_with_a_typing_error_in_it_is_refused(monkeypatch):
    check_server_settings()  # the suite runs where the file is
    monkeypatch.setattr(startup, "where_set", lambda option: "" if "Xsrf" in option else "a file")
    with pytest.raises(SystemExit, match=r"server\.enableXsrfProtection is not set"):
        check_server_settings()


def test_a_value_of_the_wrong_kind_is_refused(monkeypatch):
    known = st.get_option
    monkeypatch.setattr(startup.st, "get_option", lambda o: "fifty" if "Upload" in o else known(o))
    with pytest.raises(SystemExit, match="maxUploadSize is set to 'fifty'"):
        check_server_settings()


def test_what_somebody_has_set_otherwise_is_theirs_and_is_named(monkeypatch, caplog):
    known = st.get_option
    monkeypatch.setattr(startup.st, "get_option", lambda o: 20 if "Upload" in o else known(o))
    check_server_settings()
    assert "server.maxUploadSize is set to 20" in caplog.text


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"[server]\nport 8501\n", "at line 2"), (bytes(range(256)), "codec can't decode"), (None, "Is a directory")],
)
def test_the_command_says_one_line(tmp_path, monkeypatch, capsys, content, words):
    path = tmp_path / ".streamlit" / "config.toml"
    path.parent.mkdir()
    path.mkdir() if content is None else path.write_bytes(content)
    monkeypatch.chdir(tmp_path)
    assert launch.main([]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1


@pytest.mark.slow
def test_streamlit_run_ends_with_one_line(tmp_path):
    """Streamlit itself has logged the broken file by then, and would go on."""
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "config.toml").write_text("[server]\nport 8501\n")
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    last = ended.stderr.strip().splitlines()[-1]
    assert last.startswith("COMMOD Explorer has not started: ")
    assert "config.toml cannot be read: " in last
    assert "at line 2" in last
