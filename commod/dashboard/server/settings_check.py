"""Before the server starts: refuse a settings file that is broken or lacks what docs/deploy.md promises."""

import logging

import streamlit as st

from commod.dashboard.streamlit_internals import settings_files, where_set
from commod.installation import unreadable_settings

# What docs/deploy.md promises, as .streamlit/config.toml sets it.
PROMISED = {
    "browser.gatherUsageStats": False,
    "client.showErrorDetails": "none",
    "server.disconnectedSessionTTL": 600,
    "server.enableCORS": True,
    "server.enableXsrfProtection": True,
    "server.maxUploadSize": 50,
}


def check_settings() -> None:
    """End the start with one sentence if a settings file is broken or a promised setting is missing.

    Streamlit would go on without the whole file. Whoever changes a setting on purpose may do so; the log names it.
    """
    problem = unreadable_settings(settings_files()) or _not_as_promised()
    if problem:
        raise SystemExit(f"COMMOD Explorer has not started: {problem}")
    for option, promised in PROMISED.items():
        if (value := st.get_option(option)) != promised:
            text = "%s is set to %r (%s); what docs/deploy.md says of strangers holds for %r."
            logging.getLogger(__name__).warning(text, option, value, where_set(option), promised)


def _not_as_promised() -> str:
    """What is wrong with a setting, or nothing."""
    for option, promised in PROMISED.items():
        value, place = st.get_option(option), where_set(option)
        if not place:
            return (
                f"{option} is not set. It is in the .streamlit/config.toml that comes with app.py: start with "
                "'streamlit run app.py' or 'commod-explorer', and leave that file as it is."
            )
        if type(value) is not type(promised):
            return f"{option} is set to {value!r} ({place}): {promised!r} is of the right kind."
    return ""
