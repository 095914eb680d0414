"""The command ``commod-explorer``: what ``streamlit run app.py`` does in the checkout, from any folder."""

import runpy
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from commod import __version__
from commod.installation import needs_extra, shipped, unreadable_settings

_USAGE = """usage: commod-explorer [options of 'streamlit run']

COMMOD Explorer in the browser. For example: commod-explorer --server.port 8502 --server.address 127.0.0.1
All options: streamlit run --help"""
# What a page imports and Streamlit does not bring.
_PACKAGES = ("streamlit", "torch", "shap", "vl_convert")


def main(argv: Sequence[str] | None = None) -> int:
    """Start the app with options of ``streamlit run``; one sentence and exit code 2 if that cannot be."""
    options = sys.argv[1:] if argv is None else list(argv)
    if {"-h", "--help"} & set(options):
        print(_USAGE)
        return 0
    if "--version" in options:
        print(f"commod-explorer {__version__}")
        return 0
    try:
        with needs_extra("COMMOD Explorer", "app"):
            for package in _PACKAGES:
                if find_spec(package) is None:
                    raise ModuleNotFoundError(name=package)
    except ValueError as error:
        print(f"commod-explorer: {error}", file=sys.stderr)
        return 2
    # Streamlit would log a broken file and start without its settings.
    settings = ".streamlit/config.toml"
    problem = unreadable_settings([Path.home() / settings, Path.cwd() / settings, shipped(settings)])
    if problem:
        print(f"commod-explorer: {problem}", file=sys.stderr)
        return 2
    # Not `streamlit.App.run`: it reads neither the options of the command line nor variables such as
    # STREAMLIT_SERVER_PORT, and looks for .streamlit/config.toml beside this command instead of beside app.py.
    sys.argv = ["streamlit", "run", str(shipped("app.py")), *options]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
    return 0
