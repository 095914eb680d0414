"""The pages, as the menu has them."""

from pathlib import PurePath

from commod.dashboard.text.language import FIRST, phrase

# What people come for, and the pages for it with their icons, in the order of the menu. Those of no group stand beside
# the others. Groups and pages are named in text/words/, under `frame`.
MENU: dict[str, dict[str, str]] = {
    "": {"app.py": ":material/tune:"},
    "people": {"pages/people.py": ":material/groups:", "pages/what_if.py": ":material/person_edit:"},
    "learn": {
        "pages/lesson.py": ":material/school:",
        "pages/room.py": ":material/groups_2:",
        "pages/glossary.py": ":material/menu_book:",
    },
    "decide": {
        "pages/decide.py": ":material/gavel:",
        "pages/runs.py": ":material/push_pin:",
        "pages/take_home.py": ":material/download:",
        "pages/later.py": ":material/update:",
    },
    "science": {
        "pages/compare.py": ":material/compare_arrows:",
        "pages/limits.py": ":material/fence:",
        "pages/paper.py": ":material/article:",
    },
    "data": {"pages/your_data.py": ":material/upload_file:", "pages/data.py": ":material/dataset:"},
}


def page_name(script: str, language: str = FIRST) -> str:
    """What a page is called in the menu."""
    return phrase(language, f"frame.{PurePath(script).stem}")


# Script to its name and icon, in the order of the menu.
PAGES = {script: (page_name(script), icon) for pages in MENU.values() for script, icon in pages.items()}
