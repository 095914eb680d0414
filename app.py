"""COMMOD Explorer: the server, its menu, and the Explore page. Start with ``streamlit run app.py``.

Streamlit imports this file once, for the server, and then runs it whenever somebody opens a page.
"""

from starlette.applications import Starlette

from commod.dashboard.server.startup import one_at_a_time, server_options

if __name__ == "__main__":
    with one_at_a_time:
        from commod.dashboard.pages.explore.page import show
        from commod.dashboard.views.frame import open_page
    open_page(show)
else:
    server = Starlette(**server_options(__file__, load="commod.dashboard.pages.explore.page"))
