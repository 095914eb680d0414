"""Half an hour of forty people: what the server holds stops growing."""

import asyncio
import os
from statistics import median

import psutil
import pytest

from tests.benchmarks import crowd
from tests.benchmarks.faults import server_of
from tests.browsing import serve

PEOPLE, MINUTES = 40, 30
# Seconds between two moves of a person. The machine may be busy with something else.
PAUSE = (20.0, 40.0)


def by_minute(looks):
    """The median of each minute, in MB."""
    minutes = [[size / 1e6 for seconds, size, _ in looks if seconds // 60 == minute] for minute in range(MINUTES)]
    return [median(minute) for minute in minutes if minute]


@pytest.mark.slow
def test_memory_levels_off_while_forty_people_work(monkeypatch, tmp_path):
    """What is cached fills up to its bounds and stays there; a leak would go on as it began."""
    monkeypatch.setattr(crowd, "PAUSE", PAUSE)
    monkeypatch.setattr(crowd, "resident", lambda process: (process.memory_info().rss, process.num_threads()))
    with serve(environment=crowd.BY_ITSELF, log=tmp_path / "log") as address:
        server = psutil.Process(server_of(address).pid)
        seen = asyncio.run(crowd.load(crowd.Ours, address, PEOPLE, 60 * MINUTES, process=server, patience=120.0))
    held = by_minute(seen.memory)
    if report := os.environ.get("COMMOD_MEMORY_REPORT"):
        with open(report, "w") as file:
            file.write("\n".join(f"{minute} {size:.1f}" for minute, size in enumerate(held)))
    assert not any(person.lost for person in seen.people)
    third = len(held) // 3
    first, last = held[third] - held[0], held[-1] - held[-third]
    assert last < max(25.0, first / 2), held
