"""Once per server, after the imports: what is frozen and started, and which data files cannot be used."""

from __future__ import annotations

import gc
import logging
from functools import lru_cache

import streamlit as st
from threadpoolctl import threadpool_limits

from commod.dashboard.jobs.service import process_pool
from commod.datasets import damaged_files


@lru_cache(maxsize=1)
def name_damaged_files() -> None:
    """Say once in the server's log which data files cannot be used; the pages work on the others."""
    for sentence in damaged_files().values():
        logging.getLogger(__name__).error(sentence)


@st.cache_resource(show_spinner=False)
def start() -> None:
    """Freeze what is loaded, and have the processes started.

    Walking all of pandas and scikit-learn for garbage takes longer than a run of a page; frozen objects are not walked
    (and Streamlit's own walk after every run is off, see .streamlit/config.toml).
    """
    name_damaged_files()
    # One thread for each product of matrices, as in the processes: its last digit would else depend on who is at work.
    threadpool_limits(limits=1, user_api="blas")
    process_pool()
    gc.collect()
    gc.freeze()
