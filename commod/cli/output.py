"""What commands print, and the files they read."""

import json
import sys
from pathlib import Path
from typing import TextIO
from unicodedata import category


def print_safely(text: str = "", file: TextIO | None = None) -> None:
    """Print with terminal commands and changes of text direction escaped: text may come from a stranger's file."""
    hidden = ("C", "Zl", "Zp")
    escaped = (
        letter if letter == "\n" or not category(letter).startswith(hidden) else json.dumps(letter)[1:-1]
        for letter in text
    )
    print("".join(escaped), file=file)


def tell(text: str) -> None:
    """Print one line to stderr."""
    print_safely(one_line(text), file=sys.stderr)


def one_line(text: str) -> str:
    """The text without line breaks."""
    return " ".join(text.splitlines())


def plain(text: str) -> str:
    """With a hyphen as minus sign, which every terminal can print and other programs can read."""
    return text.replace("−", "-")


def show_progress(done: int, total: int, seconds_left: float | None) -> None:
    """Update the progress line on stderr, if it is a terminal."""
    if sys.stderr.isatty():
        left = "" if seconds_left is None else f", about {seconds_left:.0f} s left"
        print(f"\r{done} of {total} models{left}   ", end="", file=sys.stderr, flush=True)


def end_progress() -> None:
    """Begin a new line after `show_progress`."""
    if sys.stderr.isatty():
        print_safely(file=sys.stderr)


def check_folder(option: str, out: Path) -> None:
    """Refuse to write a file into a folder that does not exist."""
    if not out.absolute().parent.is_dir():
        raise ValueError(f"The folder of {option} {out} does not exist: create it first, or choose another.")
