"""Pictures of every page, wide and narrow, light and dark: ``python -m tests.screenshots``.

They go to ``screenshots/``, which git ignores. With ``--readme`` the picture at the top of the README is made anew.
"""

import argparse

from commod.dashboard.text.menu import PAGES
from tests.browsing import ROOT, chromium, serve, still

SIZES = {"wide": (1440, 900), "narrow": (390, 844)}


# Pages that would take a minute in full.
SHORT = {"pages/compare.py": "?methods=commod,lpp,fst,oracle_lpp,oracle_roc"}


def address_of(script):
    name = "" if script == "app.py" else script.removeprefix("pages/").removesuffix(".py")
    return name + SHORT.get(script, "")


def take(browser, address, path, *, size, dark, query=""):
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light")
    page.goto(f"{address}{query}")
    still(page)
    # Streamlit scrolls inside the page: let the window be as tall as what is in it.
    height = page.evaluate("() => document.querySelector('[data-testid=\"stMain\"]').scrollHeight")
    page.set_viewport_size({"width": size[0], "height": max(size[1], height)})
    still(page)
    page.screenshot(path=path)
    page.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readme", action="store_true", help="make the picture of the README")
    parser.add_argument("--query", default="", help="query of the Explore page, such as '?data=compas'")
    arguments = parser.parse_args()
    folder = ROOT / "screenshots"
    folder.mkdir(exist_ok=True)
    with serve() as address, chromium() as browser:
        if arguments.readme:
            page = browser.new_page(viewport={"width": 1280, "height": 860})
            page.goto(address)
            still(page)
            page.screenshot(path=ROOT / "docs" / "explore.png")
            return
        for script, (name, _) in PAGES.items():
            for size, pixels in SIZES.items():
                for dark in (False, True):
                    path = folder / f"{name.lower().replace(' ', '-')}-{size}-{'dark' if dark else 'light'}.png"
                    query = arguments.query if script == "app.py" else ""
                    take(browser, f"{address}/{address_of(script)}", path, size=pixels, dark=dark, query=query)
                    print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
