"""The only Streamlit code in commod: cached work, session state, link state, and the sections of the pages."""
