"""Every scheduling rule: what runs first, in which process, and for how long. Each constant has its reason."""

import os
from enum import Enum, IntEnum


class Priority(IntEnum):
    """Which jobs run first: the smallest."""

    TRAIN = 0  # somebody is moving a slider
    EXPLAIN = 1  # what is below the first picture
    SEARCH = 2  # after a click, with a progress bar
    BACKGROUND = 3  # not requested: SHAP, the sweep behind the trade-off
    FIRST_REFITS = 4  # not requested, and takes seconds
    LINE = 5  # prefetch: what the next move of a slider may ask for
    REFITS = 6  # not requested, and takes many seconds: all refits after the first ones
    PATHS = 7  # prefetch: points of the λ_fair path that make a later model cheap

    @property
    def in_background(self) -> bool:
        """Whether it gives way to people who are moving a slider."""
        return self >= Priority.SEARCH

    @property
    def is_prefetch(self) -> bool:
        """Whether it is computed before it is requested."""
        return self in (Priority.LINE, Priority.PATHS)


# ---- prefetching ----


def prefetches(what: str) -> bool:
    """Whether the server prefetches ``"line"`` or ``"paths"``: both, unless COMMOD_PREFETCH names one or is 0."""
    return os.environ.get("COMMOD_PREFETCH") in (None, "", what)


# Prefetch jobs that may wait in the queue: with this many, the processes have enough to do.
MOST_PREFETCHED = 100
# How many scenes have their paths precomputed, and for how many seconds after the last visit.
MOST_SCENES, WANTED = 4, 900.0
# Seconds without a request after which all background processes but one precompute paths.
QUIET = 10.0
# With more rows, training is mostly numpy's work, which frees the interpreter. It does not count as small.
HEAVY_ROWS = 20_000

# ---- processes ----


class Kind(Enum):
    """What a process is for."""

    FOREGROUND = "foreground"  # what people wait for while they move a slider
    BACKGROUND = "background"  # what may be slow
    APART = "apart"  # what may take minutes or gigabytes: an f of uploaded data, and work on large uploaded data


# Seconds before the server starts its processes: until then the first visitor's first picture needs the cores.
START_PAUSE = 3.0
# Seconds between two checks of a working process, and between two messages about its progress. A moving slider abandons
# several trainings a second, and the next one waits for such a check.
LOOK, TELL = 0.01, 0.15
# Seconds between two checks of all processes. A process that a signal stopped, or that does nothing although it has
# work, is killed after this many seconds, and its work is done again.
WATCH, STOPPED, SILENT = 0.5, 2.0, 5.0
# Bounds for an f of uploaded data: seconds of a core, seconds on the clock of a busy machine, and memory beyond that of
# the modules. The largest table and a forest take 80 seconds and 800 MB.
MAX_SECONDS, MAX_WAIT, MAX_MEMORY = 300, 900, 3 * 2**30
BOUND = f"{MAX_SECONDS // 60} minutes"
# Cells (rows times features) of a table on which f trains in a few seconds. It does not wait for larger ones.
LIGHT_CELLS = 1_000_000
# Seconds before a process that died twice is replaced: what killed it may kill the next one.
RESTART_PAUSE = 5.0
# Idle seconds after which processes that were started on demand end.
IDLE = 60.0

# ---- waiting ----

# After a move, the script waits this long for the model before it draws, and then lets the browser draw the picture:
# both share a machine with the training, and a browser draws when no messages come in.
PICTURE_FIRST, PICTURE_DRAWN = 0.25, 0.05
# A shorter wait needs no progress bar.
PATIENCE = 0.5
# Seconds between two checks of a waiting script, without and with a progress bar.
POLL, SLOW_POLL = 0.05, 0.2
# Seconds between two calls of the function given to `while_waiting`.
CALL_BACK = 0.5
# A progress bar is drawn again when it has grown by this share.
STEP = 0.05
# A progress line says when the result will be there if that takes more seconds than this.
SOON = 3.0

# ---- drawing ----

# Seconds after which a script draws although others still do, and between two checks of whether it is still wanted.
LONGEST_LINE, LINE_POLL = 10.0, 0.1
