"""Pictures of every page, wide and narrow, light and dark: ``python -m tests.screenshots``.

They go to ``screenshots/``, which git ignores. With ``--readme`` the picture at the top of the README is made anew,
with ``--room`` those of a room in docs/workshop.md.
"""

import argparse
import random
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from commod.dashboard.text.menu import PAGES
from tests.browsing import ROOT, chromium, serve, still

SIZES = {"wide": (1440, 900), "narrow": (390, 844)}


# Pages that would take a minute in full.
SHORT = {
    "pages/compare.py": "?methods=commod,lpp,fst,oracle_lpp,oracle_roc",
    "pages/decide.py": "?methods=commod,fst,oracle_roc&req=p_rule:0.8;changed:0.1;worse_off:0;again:0.6",
}


def address_of(script):
    name = "" if script == "app.py" else script.removeprefix("pages/").removesuffix(".py")
    return name + SHORT.get(script, "")


def take(browser, address, path, *, size, dark, query=""):
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light")
    page.goto(f"{address}{query}")
    still(page)
    # Streamlit scrolls inside the page: let the window be as tall as what is in it.
    for _ in range(2):  # what stands far down is drawn when it is near
        height = page.evaluate("() => document.querySelector('[data-testid=\"stMain\"]').scrollHeight")
        page.set_viewport_size({"width": size[0], "height": max(size[1], height)})
        still(page)
    page.screenshot(path=path)
    page.close()


def take_room():
    """The board of a class of 24 with its guesses revealed, and what a phone shows while the class votes."""
    from commod.dashboard.model.training import fit_result  # which takes a while, and tests of looks do without
    from commod.dashboard.rooms.room_store import RoomStore
    from commod.dashboard.state.link import link_of_model
    from commod.dashboard.state.settings import defaults
    from commod.dashboard.views.lesson.scenarios import scenario
    from commod.dashboard.views.room import room_figures

    rng = random.Random(1)
    step = scenario("bar_exam", "en").steps[0].name
    models = {}
    for value in (0.0, 1.0, 2.0, 3.0, 5.0):
        settings = replace(defaults("law_school"), lambda_fair=value)
        models[value] = link_of_model(settings), room_figures(fit_result(settings.model()))
    reasons = ("Fewer people lose what they had.", "The fairest that I can defend.", "It is right most often.", "")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "rooms.sqlite"
        store = RoomStore(f"sqlite:///{file}")
        room = store.open_room("bar_exam")
        leader = store.take_lead(room.secret, browser="", caller="")
        store.lead(leader, step=step)
        people = [store.join(room.code, None, browser="", caller="") for _ in range(24)]
        signed = {person: rng.choice(list(models)) for person in people}
        for person, value in signed.items():
            store.guess(person, "bar_exam", step, str(round(min(100, max(0, rng.gauss(35, 15))))))
            store.stand(person, *models[value])
        store.ask_to_sign(leader)
        for person, value in signed.items():
            store.send_vote(person, *models[value], rng.choice(reasons))
        with serve(environment={"COMMOD_ROOMS_FILE": str(file)}) as address, chromium() as browser:
            phone = browser.new_page(viewport={"width": 390, "height": 844})
            phone.goto(f"{address}/room?room={room.code}")
            phone.get_by_role("button", name="Join a room").click()
            phone.get_by_label("Why this one? One sentence").wait_for()
            still(phone)
            phone.screenshot(path=ROOT / "docs" / "room_phone.png")
            store.show_result(leader)
            store.end_question(leader)
            store.reveal(leader, "bar_exam", step)
            for person, value in signed.items():
                store.stand(person, *models[value])  # they are here
            wall = browser.new_page(viewport={"width": 1366, "height": 768})
            wall.goto(f"{address}/room?lead={room.secret}")
            wall.get_by_text("The guesses as a table").wait_for()
            still(wall)
            wall.screenshot(path=ROOT / "docs" / "room_board.png")
        store.dispose()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--room", action="store_true", help="make the pictures of a room")
    parser.add_argument("--readme", action="store_true", help="make the picture of the README")
    parser.add_argument("--query", default="", help="query of the Explore page, such as '?data=compas'")
    arguments = parser.parse_args()
    if arguments.room:
        take_room()
        return
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
