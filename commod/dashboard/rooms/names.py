"""Codes, secrets and names: random ones, and harmless versions of what people send."""

import math
import re
import secrets
import unicodedata
from collections.abc import Collection
from functools import lru_cache
from hashlib import sha256
from urllib.parse import parse_qs

from commod.dashboard.rooms.contents import Figures, RoomError
from commod.dashboard.text.language import FIRST, LANGUAGES, phrase

# Without I, L, O, 0 and 1, which look alike: 31 characters, so that nine make 26 million million codes.
ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
CODE_LENGTH = 9
NAME_LENGTH = 24
REASON_LENGTH = 200
LINK_LENGTH = 2000
WORD_LENGTH = 200  # of the names of lessons and steps, and of stored guesses
MOST_FIGURES = 30


@lru_cache(maxsize=len(LANGUAGES))
def nicknames(language: str) -> tuple[str, ...]:
    """Names to be drawn by lot, 612 in each language: a colour and a bird."""
    colours, birds = (phrase(language, f"room_names.{kind}").split() for kind in ("colours", "birds"))
    return tuple(phrase(language, "room_names.name", colour=colour, bird=bird) for colour in colours for bird in birds)


def new_code() -> str:
    """A room's code."""
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))


def tidy_code(text: str) -> str | None:
    """A code as somebody typed it, with blanks, hyphens or small letters; None if it cannot be one."""
    code = re.sub(r"[\s-]", "", text[:50]).upper()
    return code if len(code) == CODE_LENGTH and set(code) <= set(ALPHABET) else None


def hash_of(*parts: str) -> str:
    """A hash by which the store knows a secret, a seat or a network."""
    return sha256(" ".join(parts).encode(errors="surrogatepass")).hexdigest()  # whatever stands in an address


def clean(text: str, length: int) -> str:
    """One line of at most `length` characters, without invisible ones or ones that change text direction.

    At most two marks stay on a letter: more of them reach into the lines above and below.
    """
    seen: list[str] = []
    for sign in unicodedata.normalize("NFKC", text[: 20 * length]):
        kind = unicodedata.category(sign)
        if sign.isspace() or kind == "Cc":
            sign, kind = " ", "Zs"
        too_many_marks = kind[0] == "M" and all(unicodedata.category(other)[0] == "M" for other in seen[-2:])
        if kind[0] == "C" or (sign == " " and seen[-1:] in ([], [" "])) or too_many_marks:
            continue
        seen.append(sign)
        if len(seen) == length:
            break
    return "".join(seen).strip()


def unique_nickname(nickname: str | None, taken: Collection[str], language: str = FIRST) -> str:
    """The cleaned nickname, with a number if it is taken; a random one if there is none."""
    lower = {name.casefold() for name in taken}
    asked = clean(nickname or "", NAME_LENGTH)
    if not asked:
        return secrets.choice([name for name in nicknames(language) if name.casefold() not in lower])
    name, number = asked, 1
    while name.casefold() in lower:
        number += 1
        name = f"{asked[: NAME_LENGTH - 4].rstrip()} {number}"
    return name


# ---- what somebody sends as it is kept ----


def checked_word(text: str) -> str:
    """One of our names, or a stored guess: short, and without anything that a database refuses."""
    if len(text) > WORD_LENGTH or not text.isprintable():
        raise RoomError("too_long")
    return text


def checked_link(link: str) -> str:
    """A setting as a link: on data that everybody has, and without anybody's seat."""
    from commod.datasets import TASKS  # which takes seconds: the server answers before

    if len(link) > LINK_LENGTH or not link.isascii() or not link.isprintable():
        raise RoomError("too_long")
    parameters = parse_qs(link)
    if {"seat", "lead"} & set(parameters):
        raise RoomError("too_long")
    if parameters.get("data", [""])[-1] not in TASKS:
        raise RoomError("own_data")
    return link


def checked_figures(figures: Figures) -> dict[str, float]:
    """Those that are known (finite)."""
    known = {str(name): float(value) for name, value in figures.items() if math.isfinite(value)}
    if len(known) > MOST_FIGURES or any(len(name) > WORD_LENGTH or not name.isprintable() for name in known):
        raise RoomError("too_long")
    return known
