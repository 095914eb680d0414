"""Write docs/api.md, every public name of the library with its one line: ``python -m tests.api_docs``.

Public is what a package lists in its ``__all__``, and what the modules below do, which people import by name. The line
is the first of the docstring; that of a constant is the comment above it.
"""

import ast
import inspect
import pkgutil
from importlib import import_module

import commod
from tests.browsing import ROOT

TARGET = ROOT / "docs" / "api.md"
MODULES = (
    "commod.datasets.example",
    "commod.models.export",
    "commod.explain.people",
    "commod.explain.what_if",
    "commod.experiments.results",
    "commod.installation",
    "commod.portable",
)
OPENING = """# The library's public names

Written by `python -m tests.api_docs` from the docstrings, which say more (`help(commod.Commod)`). A test compares
the two. What is not listed here may change without a word in the [changelog](../CHANGELOG.md).
"""


def public_modules():
    """Packages of the library that offer names, then single modules."""
    packages = [found.name for found in pkgutil.walk_packages(commod.__path__, "commod.") if found.ispkg]
    library = [name for name in packages if not name.startswith("commod.dashboard")]
    return [name for name in ("commod", *library, *MODULES) if hasattr(import_module(name), "__all__")]


def names_of(module):
    """Its public names; the registry of competitors offers its classes on demand, beside ``__all__``."""
    return sorted({*module.__all__, *getattr(module, "_CLASSES", ())}, key=str.lower)


def first_line(module, name):
    value = getattr(module, name)
    if inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value):
        return (inspect.getdoc(value) or "").partition("\n")[0]
    return _comment_above(_home(module, name), name)


def _home(module, name):
    """The module where a constant is assigned."""
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            return import_module(node.module)
    return module


def _comment_above(module, name):
    lines = inspect.getsource(module).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith((f"{name} = ", f"{name}: ")))
    comment = []
    while lines[at - 1].startswith("# "):
        at -= 1
        comment.insert(0, lines[at].removeprefix("# "))
    return " ".join(comment)


def document():
    """The whole text, and the names that have no line."""
    parts, without = [OPENING], []
    for name in public_modules():
        module = import_module(name)
        title = (inspect.getdoc(module) or "").partition("\n")[0]
        parts.append(f"\n## `{name}`\n\n{title}\n\n| name | what it is |\n|---|---|\n")
        for public in names_of(module):
            line = first_line(module, public).replace("``", "`").replace("|", r"\|")
            if not line:
                without.append(f"{name}.{public}")
            parts.append(f"| `{public}` | {line} |\n")
    return "".join(parts), without


if __name__ == "__main__":
    text, without = document()
    TARGET.write_text(text)
    print(
        f"{TARGET.name}: {text.count(chr(10))} lines" + (f"; without a line: {', '.join(without)}" if without else "")
    )
