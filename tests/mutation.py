"""Mutation testing: does a test fail when one operator, number or condition of the library is changed?

``python -m tests.mutation sample mutants.json`` draws mutants of each part below with cosmic-ray's operators.
``python -m tests.mutation run mutants.json result.json`` applies them one at a time to a copy of the checkout and runs
the tests of that part until the first one fails. It needs nothing but the tests' requirements. With ``--checkout`` both
work on another commit: a mutant is a line and what becomes of it, so that the same mutants can be tried before and
after a change. ``python -m tests.mutation compare before.json after.json`` names those that survive only after it.
"""

import argparse
import ast
import contextlib
import json
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOLVER = ["tests/models/test_solver_parts.py", "tests/models/test_minima.py", "tests/models/test_groups.py"]
SOLVER += ["tests/models/test_limited.py", "tests/models/test_affine.py", "tests/models/test_blocks.py"]
SOLVER += ["tests/models/test_behaviour.py", "tests/models/test_estimator.py"]
# Part: its files, and the tests that answer for it, quickest first.
PARTS = {
    "metrics": ("commod/metrics", ["tests/metrics"]),
    "objective": ("commod/models/objective.py", SOLVER),
    "adversary": ("commod/models/adversary.py", SOLVER),
    "theory": ("commod/theory", ["tests/theory"]),
    "decisions": ("commod/decisions", ["tests/decisions"]),
    "cells": ("commod/cells.py", ["tests/datasets/test_raw.py", "tests/models/test_contract.py"]),
    "portable": (
        "commod/portable.py",
        [
            "tests/test_portable.py",
            "tests/models/test_contract.py",
            "tests/models/test_export.py",
        ],
    ),
    "queue": ("commod/dashboard/jobs/queue.py", ["tests/dashboard/jobs/test_queue.py"]),
}
# Operators that give another value or another way, and not merely a TypeError.
OPERATORS = re.compile(
    r"core/(ReplaceBinaryOperator_(Add|Sub|Mul|Div|Pow)_(Add|Sub|Mul|Div)|ReplaceBinaryOperator_Bit(And|Or)_Bit(And|Or)"
    r"|ReplaceComparisonOperator_\w+?_(Eq|NotEq|Lt|LtE|Gt|GtE)|ReplaceComparisonOperator_Is(Not)?_Is(Not)?"
    r"|ReplaceUnaryOperator_(USub_UAdd|Delete_\w+)|AddNot|ReplaceTrueWithFalse|ReplaceFalseWithTrue|ReplaceAndWithOr"
    r"|ReplaceOrWithAnd|ReplaceBreakWithContinue|ReplaceContinueWithBreak|NumberReplacer|ZeroIterationForLoop)"
)
COPIED = ("commod", "tests", "data", "docs", "pages", "examples", ".streamlit", "app.py", "pyproject.toml", "README.md")


def sample(checkout, count, seed):
    """`count` mutants of each part."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    operators = {name: get_operator(name)() for name in sorted(operator_names()) if OPERATORS.fullmatch(name)}
    mutants = []
    for part, (place, _) in PARTS.items():
        places = []
        for file in files(checkout / place):
            nodes = [*ast_nodes(get_ast(file.read_text(encoding="utf-8")))]
            for name, operator in operators.items():
                found = sum(1 for node in nodes for _ in operator.mutation_positions(node))
                places += [(file, name, i) for i in range(found)]
        drawn = 0
        for file, name, i in random.Random(f"{part} {seed}").sample(places, len(places)):
            if drawn == count:
                break
            before = file.read_text(encoding="utf-8")
            after = mutate_code(before, operators[name], i)
            if meaning(after) not in (None, meaning(before)):
                drawn += 1
                path = file.relative_to(checkout).as_posix()
                mutants.append({"part": part, "file": path, "operator": name.split("/")[1], **changed(before, after)})
        print(f"{part}: {drawn} of {len(places)} mutants", file=sys.stderr)
    return mutants


def files(place):
    return sorted(place.rglob("*.py")) if place.is_dir() else [place]


def meaning(source):
    """The program without annotations, which nothing here evaluates; None if it is no program."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        for part in ("annotation", "returns"):
            if hasattr(node, part):
                setattr(node, part, ast.Constant(None))
    return ast.dump(tree)


def changed(before, after):
    """The line that differs, what becomes of it, and which of the lines that read so it is."""
    lines, others = before.splitlines(), after.splitlines()
    at = next(i for i, (one, other) in enumerate(zip(lines, others, strict=False)) if one != other)
    last = next(i for i in range(1, len(lines)) if lines[-i] != others[-i])
    old, new = lines[at : len(lines) - last + 1], others[at : len(others) - last + 1]
    which = [i for i in range(len(lines)) if lines[i : i + len(old)] == old].index(at)
    return {"line": at + 1, "which": which, "old": "\n".join(old), "new": "\n".join(new)}


def applied(source, mutant):
    """The source with the mutant in it, or None where that line is no more."""
    lines, old = source.splitlines(), mutant["old"].splitlines()
    found = [i for i in range(len(lines)) if lines[i : i + len(old)] == old]
    if mutant["which"] >= len(found):
        return None
    at = found[mutant["which"]]
    return "\n".join([*lines[:at], *mutant["new"].splitlines(), *lines[at + len(old) :]]) + "\n"


def run(checkout, mutants, jobs, limit):
    """What became of each mutant: killed, survived or gone, and after how many seconds."""
    copies = queue.SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        for i in range(jobs):
            copies.put(copied(checkout, Path(folder) / str(i)))
        clean = {part: tested(copies, part, None, limit) for part in sorted({mutant["part"] for mutant in mutants})}
        failing = [part for part, (killed, _) in clean.items() if killed]
        assert not failing, f"the tests of {failing} fail without a mutant"
        found = pool.map(lambda mutant: tested(copies, mutant["part"], mutant, limit), mutants)
        results = []
        for mutant, (killed, seconds) in zip(mutants, found, strict=True):
            fate = "gone" if killed is None else "killed" if killed else "survived"
            results.append({**mutant, "fate": fate, "seconds": round(seconds, 1)})
            if fate == "survived":
                print(f"{mutant['file']}:{mutant['line']}\n- {mutant['old']}\n+ {mutant['new']}", flush=True)
    return results


def copied(checkout, place):
    for name in COPIED:
        one = checkout / name
        if one.is_dir():
            shutil.copytree(one, place / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif one.exists():
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(one, place / name)
    return place


def tested(copies, part, mutant, limit):
    """Whether a test fails (None if the mutant cannot be applied), and the seconds it took."""
    place = copies.get()
    file = place / mutant["file"] if mutant else None
    before = file.read_text(encoding="utf-8") if file and file.exists() else ""
    try:
        if mutant:
            after = applied(before, mutant)
            if after is None:
                return None, 0.0
            file.write_text(after, encoding="utf-8")
        start = time.monotonic()
        return fails(place, PARTS[part][1], limit), time.monotonic() - start
    finally:
        if mutant and before:
            file.write_text(before, encoding="utf-8")
        copies.put(place)


def fails(place, tests, limit):
    """Whether one of these tests fails, or they do not end."""
    options = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0"]
    options += ["-o", "addopts=--strict-markers"]  # of xdist there is no need
    existing = [test for test in tests if (place / test).exists()]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(place), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", *existing, *options]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, cwd=place, env=env, start_new_session=True, **quiet)
    try:
        return process.wait(limit) != 0
    except subprocess.TimeoutExpired:
        return True
    finally:
        if hasattr(os, "killpg"):
            end_group(process)
        process.kill()
        process.wait()


def end_group(process):
    """Also what the tests have started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def compare(before, after):
    """Survivors of `after` that were killed in `before`; an error if there are any."""
    fates = {identity(mutant): mutant["fate"] for mutant in before}
    print(f"before: {dict(Counter(mutant['fate'] for mutant in before))}")
    print(f"after:  {dict(Counter(mutant['fate'] for mutant in after))}")
    lost = [m for m in after if m["fate"] == "survived" and fates.get(identity(m)) == "killed"]
    for mutant in lost:
        print(f"survives only after: {mutant['file']}:{mutant['line']}\n- {mutant['old']}\n+ {mutant['new']}")
    return len(lost)


def identity(mutant):
    return tuple(mutant[name] for name in ("file", "line", "which", "old", "new"))


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, first, second in (
        ("sample", "mutants", None),
        ("run", "mutants", "result"),
        ("compare", "before", "after"),
    ):
        command = commands.add_parser(name)
        for file in filter(None, (first, second)):
            command.add_argument(file, type=Path)
        command.add_argument("--checkout", type=Path, default=ROOT)
        command.add_argument("--count", type=int, default=20, help="mutants of each part")
        command.add_argument("--seed", type=int, default=0)
        command.add_argument("--jobs", type=int, default=os.cpu_count())
        command.add_argument("--parts", nargs="*", default=[*PARTS])
        command.add_argument("--limit", type=float, default=300.0, help="seconds; a mutant that takes longer is killed")
    given = parser.parse_args()
    if given.command == "compare":
        return compare(json.loads(given.before.read_text()), json.loads(given.after.read_text()))
    if given.command == "sample":
        given.mutants.write_text(json.dumps(sample(given.checkout.resolve(), given.count, given.seed), indent=1) + "\n")
        return 0
    mutants = [one for one in json.loads(given.mutants.read_text()) if one["part"] in given.parts]
    results = run(given.checkout.resolve(), mutants, given.jobs, given.limit)
    given.result.write_text(json.dumps(results, indent=1) + "\n")
    print(dict(Counter((mutant["part"], mutant["fate"]) for mutant in results)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
