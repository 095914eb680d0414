"""Once per server, after the imports: freeze the garbage collector, start the processes, name damaged data files."""

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
    """Log once which data files cannot be used; the pages work with the others."""
    for sentence in damaged_files().values():
        logging.getLogger(__name__).error(sentence)


@st.cache_resource(show_spinner=False)
def start() -> None:
    """Freeze what is loaded, and start the processes.

    The garbage collector skips frozen objects: walking all of pandas and scikit-learn takes longer than a script run.
    (Streamlit's own collection after every run is off, see .streamlit/config.toml.)
    """
    name_damaged_files()
    # One thread per matrix product, as in the processes: otherwise the last digit would depend on who computes it.
    threadpool_limits(limits=1, user_api="blas")
    process_pool()
    gc.collect()
    gc.freeze()
