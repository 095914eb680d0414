"""Once per server: what `streamlit.App` is told, what is loaded and frozen, and which data files cannot be used."""

from __future__ import annotations

import gc
import logging
import os
from functools import lru_cache
from threading import Thread
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from threadpoolctl import threadpool_limits

from commod.dashboard.jobs.scheduling import uses
from commod.dashboard.jobs.service import process_pool
from commod.dashboard.server.browser import BrowserCookie
from commod.dashboard.server.files import OwnFiles
from commod.dashboard.server.headers import SecurityHeaders
from commod.dashboard.server.sockets import send_at_once
from commod.datasets import damaged_files
from commod.explain.shap_comparison import warm_up


def server_options() -> dict[str, Any]:
    """Keyword arguments of `streamlit.App`."""
    name_damaged_files()
    return {
        "lifespan": send_at_once,
        "middleware": [Middleware(SecurityHeaders), Middleware(BrowserCookie), Middleware(OwnFiles)],
    }


@lru_cache(maxsize=1)
def name_damaged_files() -> None:
    """Say once in the server's log which data files cannot be used; the pages work on the others."""
    for sentence in damaged_files().values():
        logging.getLogger(__name__).error(sentence)


@st.cache_resource(show_spinner=False)
def start() -> None:
    """After the imports: freeze what is loaded, start the processes, let SHAP compile.

    Walking all of pandas and scikit-learn for garbage takes longer than a run of a page; frozen objects are not walked
    (and Streamlit's own walk after every run is off, see .streamlit/config.toml). With COMMOD_WARM_UP=0 in the
    environment SHAP compiles when it is needed.
    """
    name_damaged_files()
    # One thread for each product of matrices, as in the processes: its last digit would else depend on who is at work.
    threadpool_limits(limits=1, user_api="blas")
    process_pool()
    _freeze()
    if os.environ.get("COMMOD_WARM_UP") != "0":
        Thread(target=_compile_shap, name="warm-up", daemon=True).start()


def _compile_shap() -> None:
    warm_up()
    _freeze()


def _freeze() -> None:
    if uses("gc_freeze"):
        gc.collect()
        gc.freeze()
