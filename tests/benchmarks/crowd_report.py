"""What a crowd's run has to say: each requirement beside what was measured, as text and as Markdown."""

import datetime
import os
import platform
import statistics
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from importlib.metadata import version
from math import inf, isfinite
from pathlib import Path

MAX_SEEN = 1.5  # times the floor app's median, with up to sixty people
MAX_SEEN_OF_MANY = 3.0  # the same with more
MAX_FIRST = 5.0  # for their first charts
MAX_HELD = 8.0  # GiB with large uploads: MemoryMax of the unit in docs/deploy.md
MAX_NEW = 0.3  # seconds
MAX_RUSH = 1.5  # seconds, where all move at one moment
MAX_MEMORY = 1.3
MINUTE = 60.0
MAX_NEWCOMER = 4.0  # seconds for a new setting when all is over
MAX_IDLE = 0.2  # of a core, when nobody moves
PACKAGES = ("streamlit", "websockets", "numpy", "scikit-learn", "pandas", "pyarrow", "shap")


@dataclass
class Requirement:
    """One line of the table."""

    name: str
    asked: str
    measured: str
    met: bool


@dataclass
class Verdict:
    """All lines, and the tables behind them."""

    sessions: int = 0
    requirements: list[Requirement] = field(default_factory=list)
    waits: list[tuple] = field(default_factory=list)
    faults: list[tuple] = field(default_factory=list)
    inputs: list[tuple] = field(default_factory=list)
    uploads: list[tuple] = field(default_factory=list)
    memory: list[tuple] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def met(self):
        return all(requirement.met for requirement in self.requirements)


def milliseconds(seconds):
    return f"{1e3 * seconds:,.0f} ms" if isfinite(seconds) else "never"


def middle(moves):
    """Median wait. A move that the next one overtook counts as never answered: nobody saw its picture."""
    return statistics.median(move.wait for move in moves) if moves else inf


def quantile(moves, share):
    waits = sorted(move.wait for move in moves)
    return waits[min(len(waits) - 1, int(share * len(waits)))] if waits else inf


def waits_of(name, moves):
    answered = [move for move in moves if isfinite(move.wait)]
    drawn = [move.drawn - move.sent for move in moves if isfinite(move.drawn)]
    finished = [move.finished - move.sent for move in moves if isfinite(move.finished)]
    return (
        name,
        len(moves),
        len(moves) - len(answered),
        milliseconds(middle(moves)),
        milliseconds(quantile(moves, 0.95)),
        milliseconds(max((move.wait for move in answered), default=inf)),
        milliseconds(statistics.median(drawn) if drawn else inf),
        milliseconds(statistics.median(finished) if finished else inf),
    )


def judge(floor, ours, seconds, inputs=0):
    """Hold a run against what was asked for."""
    verdict = Verdict(len(ours.people) + len(ours.outside))
    require = verdict.requirements
    people, sessions = ours.people, len(ours.people)
    moves = ours.moves(seconds)
    seen, new = [m for m in moves if m.seen], [m for m in moves if not m.seen]
    on_floor = [move for crowd in floor for move in crowd.moves()]

    problems = [problem for person in people for problem in person.tab.problems]
    require.append(Requirement("errors", "none", most_common(problems) or "none", not problems))
    lost = sum(person.lost for person in people)
    require.append(Requirement("sessions lost", "none", f"{lost} of {sessions}" if lost else "none", not lost))
    final = sum(person.at_the_end() for person in people)
    require.append(
        Requirement("final settings answered", "all", f"{final} of {sessions}", final == sessions and sessions > 0)
    )
    base, ratio = middle(on_floor), middle(seen) / middle(on_floor)
    text = f"{ratio:.1f}× ({milliseconds(middle(seen))} against {milliseconds(base)})"
    most = MAX_SEEN if sessions <= 60 else MAX_SEEN_OF_MANY
    require.append(Requirement("settings seen before, median", f"≤ {most:g}× the floor app's", text, ratio <= most))
    firsts = [person.first for person in people]
    base = statistics.median(person.first for crowd in floor for person in crowd.people)
    first = statistics.median(firsts)
    text = f"{first / base:.1f}× ({milliseconds(first)} against {milliseconds(base)})"
    asked = f"≤ {MAX_FIRST:g}× the floor app's"
    require.append(Requirement("first charts, median", asked, text, first <= MAX_FIRST * base))
    require.append(
        Requirement("new settings, median wait", f"≤ {MAX_NEW:g} s", f"{middle(new):.2f} s", middle(new) <= MAX_NEW)
    )
    text, rush = milliseconds(middle(ours.rush)), middle(ours.rush)
    require.append(Requirement("all at one moment, median wait", f"≤ {MAX_RUSH:g} s", text, rush <= MAX_RUSH))
    _judge_memory(verdict, ours)
    if ours.outside:
        dishonest = [person.full for person in ours.outside if "is full" not in person.full]
        text = f"{len(ours.outside)} people, {most_common(dishonest) or ours.outside[0].full}"
        require.append(Requirement("no place", "an honest sentence", text, not dishonest))
    if ours.uploads:
        _judge_uploads(verdict, ours)
    places = [place for person in people for place in person.places]
    told = sum(bool(person.places) for person in people)
    text = f"to {told} of {sessions} sessions, with n up to {max(places, default=0)}"
    require.append(Requirement("the page says “n before you”", "while waiting", text, bool(places)))
    if ours.faults:
        _judge_faults(verdict, ours)
    if inputs:
        _try_inputs(verdict, inputs)

    verdict.waits = [
        waits_of("floor app", on_floor),
        waits_of("ours, seen before", seen),
        waits_of("ours, new", new),
        waits_of("ours, all at one moment", ours.rush),
    ]
    later = [move for move in ours.moves() if move not in moves] if len(ours.moves()) > len(moves) else []
    if later:
        verdict.waits.insert(3, waits_of("ours, seen before, later", [m for m in later if m.seen]))
        verdict.waits.insert(4, waits_of("ours, new, later", [m for m in later if not m.seen]))
    verdict.notes.append(
        f"{sessions} sessions, all opened at one moment: first chart after {milliseconds(statistics.median(firsts))} "
        f"(median), {milliseconds(max(firsts))} at the most. Each moved a slider every {ours.pause[0]:.0f} to "
        f"{ours.pause[1]:.0f} s; {len(ours.asked):,} different settings were asked for."
    )
    return verdict


def _judge_memory(verdict, ours):
    after = [sample for sample in ours.memory if sample[0] >= MINUTE]
    step = MINUTE if ours.memory[-1][0] > 4 * MINUTE else MINUTE / 2
    due = 0.0
    for seconds, held, threads in ours.memory:
        if seconds >= due or seconds == ours.memory[-1][0]:
            verdict.memory.append((f"{seconds:.0f} s", f"{held / 2**20:,.0f} MiB", threads))
            due += step
    if not after:
        verdict.notes.append("The run was shorter than a minute: nothing is said about memory.")
        return
    if ours.uploads:
        held = max(sample[1] for sample in ours.memory) / 2**30
        text = f"{held:.1f} GiB at the most, {ours.memory[-1][1] / 2**30:.1f} at the end"
        verdict.requirements.append(Requirement("memory", f"≤ {MAX_HELD:g} GiB", text, held <= MAX_HELD))
        return
    first, last = after[0], after[-1]
    growth = last[1] / first[1]
    text = f"{growth:.2f}× ({first[1] / 2**20:,.0f} MiB after 1 minute, {last[1] / 2**20:,.0f} after {last[0]:.0f} s)"
    verdict.requirements.append(
        Requirement("memory at the end", f"≤ {MAX_MEMORY:g}× that after 1 minute", text, growth <= MAX_MEMORY)
    )


def _judge_uploads(verdict, ours):
    wrong = [upload.trouble for upload in ours.uploads if upload.trouble]
    for name in dict.fromkeys(name for upload in ours.uploads for name in upload.steps):
        seconds = [upload.steps[name] for upload in ours.uploads if name in upload.steps]
        verdict.uploads.append((name, len(seconds), f"{statistics.median(seconds):.0f} s", f"{max(seconds):.0f} s"))
    full = [upload.full for upload in ours.uploads if upload.full]
    text = f"{len(ours.uploads)} brought, {sum('random forest' in u.steps for u in ours.uploads)} with their forest"
    text += f", {len(full)} told that there is no room" if full else ""
    text += f"; {most_common(wrong)}" if wrong else ", no error"
    verdict.requirements.append(Requirement("large uploads", "no error but “full”", text, not wrong))


def _judge_faults(verdict, ours):
    kinds = Counter(fault.kind for fault in ours.faults)
    failed = [fault for fault in ours.faults if fault.trouble]
    for kind, tried in kinds.items():
        trouble = most_common([fault.trouble for fault in failed if fault.kind == kind])
        verdict.faults.append((kind, tried, tried - sum(f.kind == kind for f in failed), trouble))
    text = f"{len(ours.faults) - len(failed)} of {len(ours.faults)}"
    verdict.requirements.append(Requirement("faults survived", "all", text, not failed))
    free = ours.newcomer <= MAX_NEWCOMER and ours.idle <= MAX_IDLE
    text = f"a newcomer's new setting took {milliseconds(ours.newcomer)}; at rest {ours.idle:.0%} of a core is used"
    verdict.requirements.append(Requirement("places at work are free afterwards", "all", text, free))


def _try_inputs(verdict, cases):
    """Fuzz uploads in a process of their own."""
    code = (
        "from tests.fuzzing import fuzz_uploads\n"
        f"for kind, n in fuzz_uploads({cases}).most_common():\n"
        "    print(n, kind if isinstance(kind, str) else ': '.join(kind))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2])
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        verdict.requirements.append(Requirement("inputs tried", f"{cases:,} without a fault", last, False))
        return
    verdict.inputs = [tuple(line.split(" ", 1)[::-1]) for line in done.stdout.splitlines()]
    text = f"{cases:,} files, none with an uncaught exception"
    verdict.requirements.append(Requirement("inputs tried", f"{cases:,} without a fault", text, True))


def most_common(texts):
    """Texts with how often each came, the most frequent five."""
    return "; ".join(f"{n}× {text}" for text, n in Counter(texts).most_common(5))


def machine():
    """The machine and the versions, in two lines."""
    model = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    cores = len(os.sched_getaffinity(0))
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return f"{cores} cores ({model}), {platform.system()}; Python {platform.python_version()}, {packages}"


WAITS = (
    "",
    "moves",
    "overtaken by the next",
    "median",
    "95 %",
    "longest answered",
    "trade-off drawn, median",
    "script at its end, median",
)
REQUIREMENTS = ("", "asked for", "measured", "")
FAULTS = ("what was done", "times", "survived", "trouble")
UPLOADS = ("step of a large upload", "times", "median", "longest")
INPUTS = ("kind of input", "tried")
MEMORY = ("after", "held by the server", "threads")


def _lines(verdict):
    return [(r.name, r.asked, r.measured, "met" if r.met else "MISSED") for r in verdict.requirements]


def as_text(verdict):
    """For the terminal."""
    parts = [_columns(REQUIREMENTS, _lines(verdict)), _columns(WAITS, verdict.waits)]
    parts += [_columns(FAULTS, verdict.faults)] if verdict.faults else []
    parts += [_columns(UPLOADS, verdict.uploads)] if verdict.uploads else []
    parts += [_columns(MEMORY, verdict.memory)] if verdict.memory else []
    parts += verdict.notes
    return "\n\n".join(parts)


def _columns(head, rows):
    rows = [tuple(str(cell) for cell in row) for row in (head, *rows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return "\n".join("  ".join(f"{c:{w}}" for c, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def write(path, verdict):
    """For the repository."""
    today = datetime.date.today().isoformat()
    missed = [r.name for r in verdict.requirements if not r.met]
    parts = [
        "# A crowd at the app, measured",
        f"{today}, {machine()}. Written by `python -m tests.benchmarks.crowd --sessions {verdict.sessions} --report`; "
        "the floor app (one slider, one chart, no computing) had the same crowd on the same machine before and after, "
        "in a server of its own.",
        "**Missed:** " + ", ".join(missed) if missed else "Everything that was asked for is met.",
        "## Load held",
        _markdown(REQUIREMENTS, _lines(verdict)),
        "Move to first picture: over `GET /model` in our app, in the chart of the floor app. A median counts moves "
        "that were overtaken by the session's next move as never answered.",
        _markdown(WAITS, verdict.waits),
        *verdict.notes,
    ]
    if verdict.faults:
        parts += ["## Faults survived", _markdown(FAULTS, verdict.faults)]
    if verdict.uploads:
        parts += ["## Large uploads", _markdown(UPLOADS, verdict.uploads)]
    if verdict.inputs:
        parts += ["## Inputs tried", _markdown(INPUTS, verdict.inputs)]
    parts += ["## Memory over time", _markdown(MEMORY, verdict.memory)]
    path.write_text("\n\n".join(parts) + "\n")


def _markdown(head, rows):
    rows = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows)
