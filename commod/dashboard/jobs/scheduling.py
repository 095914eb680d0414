"""Every rule about who computes and who draws when, with the reason for it and its constants.

Python runs one thread at a time, and thirty pages share one server. What each piece is worth is measured by
``python -m tests.benchmarks.ablation``, which switches one off at a time (``COMMOD_WITHOUT=name,name`` in the
environment).
"""

from __future__ import annotations

import os
from enum import Enum, IntEnum

PIECES = {
    "one_wake": "A script that draws an element wakes the server's loop only where nobody else just has.",
    "together": "What a script has drawn is handed to the server's loop in one piece, not element by element.",
    "turns": "A few scripts draw at a time, each to its end or until it waits: not all at once, each as slow as all.",
    "deferred_paint": "Parts below the first pictures are drawn one session after the other, and after those.",
    "browser_pause": "After the first picture the script rests, since the browser draws only when no message comes in.",
    "near": "What stands far below the screen is not drawn, and so not drawn anew with every move.",
    "long_runs": "A browser is told of runs that take a while: for this alone it goes over the whole page.",
    "moment": "A training that takes a moment is waited for before anything is drawn, so that nothing flickers.",
    "priorities": "Trainings come before what is said about models, and that before what runs in the background.",
    "one_by_one": "As many small trainings run at a time as there are processes for them; more would share the server.",
    "ahead": "While nobody waits, the settings next to those on a screen are trained.",
    "ladders": "While nobody waits, what every model of a data set passes on its way is solved: a new one is quick.",
    "rest": "A job in the background that is computed in the server rests while somebody waits for a training.",
    "idle_class": "The background's process gets only time that nobody else wants.",
    "no_delay": "Small messages are sent at once; the system would hold one back until the last is acknowledged.",
    "gc_freeze": "What is loaded at the start is never walked for garbage.",
}
_without = frozenset(os.environ.get("COMMOD_WITHOUT", "").split(","))


def uses(piece: str) -> bool:
    """Whether a piece is switched on: all are, except in the benchmark that measures them."""
    if piece not in PIECES:
        raise KeyError(f"There is no scheduling piece {piece!r}.")
    return piece not in _without


class Priority(IntEnum):
    """Which jobs are taken first: the smallest."""

    TRAIN = 0  # somebody has a slider in hand
    EXPLAIN = 1  # what stands below the first picture
    SEARCH = 2  # somebody has pressed a button and watches a progress bar
    BACKGROUND = 3  # nobody has asked for it: SHAP, the sweep behind the trade-off
    FIRST_REFITS = 4  # the same, and it takes seconds
    AHEAD = 5  # nobody may ever ask for it: the next step of every other slider
    LINE = 6  # nobody may ever ask for it: every λ_fair beside a setting that somebody looks at
    REFITS = 7  # nobody has asked for it, and it takes many seconds: all refits but the first ones
    LADDERS = 8  # nobody may ever ask for it: what makes a model quick that somebody may ask for

    @property
    def in_background(self) -> bool:
        """Whether it makes way for those who have a slider in hand."""
        return self >= Priority.SEARCH

    @property
    def is_ahead(self) -> bool:
        """Whether it is a training that nobody has asked for yet."""
        return self in (Priority.LINE, Priority.AHEAD, Priority.LADDERS)


# ---- the queue ----

# Seconds for which a job in the background rests, each time it reports, while others are at work.
REST = 0.3
# Jobs that may stand in line ahead of anybody's asking: with so many, others are at work enough.
MOST_AHEAD = 100
# Sets of data of which all ladders are climbed, and seconds for which they are once nobody looks at them.
MOST_CLIMBED, WANTED = 4, 900.0
# Seconds without anybody's asking after which all processes but one climb.
QUIET = 10.0
# With more rows a training is mostly numpy's work, which leaves the interpreter to others: it is not counted as small.
HEAVY_ROWS = 20_000

# ---- processes ----


class Kind(Enum):
    """What a process is for."""

    FOREGROUND = "foreground"  # what people wait for with a slider in hand
    BACKGROUND = "background"  # what may take its time
    APART = "apart"  # what may take minutes or gigabytes: an f of data that somebody has brought, and large such data


# Seconds before the processes of a server are started: the first visitor's first picture needs the cores meanwhile.
START_PAUSE = 3.0
# Seconds between two looks at a process at work, and between two messages about its progress.
LOOK, TELL = 0.05, 0.15
# Seconds between two looks at whether processes go on; after so many that a process was stopped by a signal, or did
# nothing though it had work, it is ended and its work done again.
WATCH, STOPPED, SILENT = 0.5, 2.0, 5.0
# What an f of somebody's own data may take: seconds of a core, seconds on the clock of a machine that has much to do,
# and memory beyond that of the modules. The largest table and a forest take 80 seconds and 800 MB.
MAX_SECONDS, MAX_WAIT, MAX_MEMORY = 300, 900, 3 * 2**30
# Cells (rows times features) of a table on which an f is trained in a few seconds: it need not wait for larger ones.
LIGHT_CELLS = 1_000_000
# Seconds before a process that was lost is replaced: what ended it may end the next.
RESTART_PAUSE = 5.0

# ---- waiting ----

# A training that is done within this is waited for before anything is drawn.
MOMENT = 0.15
# A wait that is shorter than this needs no progress bar.
PATIENCE = 0.5
# How often a script that waits looks around; the same once a bar is shown.
POLL, SLOW_POLL = 0.05, 0.2
# Seconds between two looks of who waits at what else happens on the page.
LOOK_AROUND = 0.5
# By how much a bar must have grown to be drawn anew.
STEP = 0.05

# ---- drawing ----

# Scripts that draw at a time: one, and others for when it is held up by a disk or a socket.
DRAWING = 2
# Seconds after which a script draws though it is not its turn.
LONGEST_LINE = 10.0
# Long enough for the browser to draw what it has been sent, short enough not to be felt.
BROWSER_PAUSE = 0.06
# Seconds after which a page in line looks whether it is still wanted.
LINE_POLL = 0.1
