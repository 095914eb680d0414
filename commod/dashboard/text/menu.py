"""The menu, and the pages that its entries lead to."""

from pathlib import PurePath

from commod.dashboard.text.language import FIRST, phrase

# Entries of the menu, ten at most, and the pages of each with their icons. An entry opens its first page; the others
# are linked at the top of it, and every page keeps its own address. All names are in text/words/, under `frame`.
MENU: dict[str, dict[str, str]] = {
    "app": {"app.py": ":material/tune:"},
    "people": {"pages/people.py": ":material/groups:"},
    "what_if": {"pages/what_if.py": ":material/person_edit:"},
    "compare": {"pages/compare.py": ":material/compare_arrows:", "pages/limits.py": ":material/fence:"},
    "lesson": {"pages/lesson.py": ":material/school:"},
    "room": {"pages/room.py": ":material/groups_2:"},
    "decide": {"pages/decide.py": ":material/gavel:", "pages/runs.py": ":material/push_pin:"},
    "all_data": {"pages/your_data.py": ":material/upload_file:", "pages/data.py": ":material/dataset:"},
    "take_home": {"pages/take_home.py": ":material/download:"},
    "about": {"pages/glossary.py": ":material/menu_book:", "pages/paper.py": ":material/article:"},
}


# Pages that are said in every language; of all others, only their names.
TRANSLATED = ("app.py", "pages/lesson.py", "pages/room.py", "pages/glossary.py")


def page_name(script: str, language: str = FIRST) -> str:
    """What a page is called."""
    return phrase(language, f"frame.{PurePath(script).stem}")


def entry_of(script: str) -> str:
    """The entry of the menu that a page belongs to."""
    return next(entry for entry, pages in MENU.items() if script in pages)


# Script to its name and icon, in the order of the menu.
PAGES = {script: (page_name(script), icon) for pages in MENU.values() for script, icon in pages.items()}
