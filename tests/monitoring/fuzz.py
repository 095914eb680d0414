"""Hostile models by the thousand, the same ones for the same seed: ``python -m tests.monitoring.fuzz --cases 3000``.

Each is a sound `model.json` of which bytes are flipped, cut off or put together anew, or of which one value, however
deep, is replaced. Nothing may come out but what became of the batch, or a sentence that a person can read.
"""

import argparse
import copy
import json
import random
import time
import warnings
from collections import Counter

from commod.monitoring import about_model, headline, watch_files
from tests.fuzzing import NASTY, readable
from tests.monitoring.conftest import Watching, watching

ODD = [None, True, False, 0, -1, 1, 2, 0.5, 1e308, -1e308, 5e-324, 10**30, 2**63, [], {}, [[]], [None], {"a": 1}, "0"]
MAX_SECONDS = 10.0


def _replaced(rng, content):
    """The model with one value, at any depth, that is another."""
    found = copy.deepcopy(content)
    part, key = found, rng.choice(list(found))
    while isinstance(part[key], dict | list) and part[key] and rng.random() < 0.8:
        part = part[key]
        key = rng.choice(list(part)) if isinstance(part, dict) else rng.randrange(len(part))
    kind = rng.random()
    if kind < 0.15 and isinstance(part, dict):
        del part[key]
    elif kind < 0.3 and isinstance(part, list):
        part.insert(key, copy.deepcopy(part[key]))
    elif kind < 0.6:
        part[key] = rng.choice(NASTY)
    elif isinstance(part[key], int | float) and kind < 0.8:
        part[key] = part[key] * rng.choice([-1, 1e-300, 1e300, 1.5, 1e6])
    else:
        part[key] = copy.deepcopy(rng.choice(ODD))
    return json.dumps(found).encode("utf-8", "surrogatepass")


def _bytes(rng, text):
    broken = bytearray(text)
    for _ in range(rng.randint(1, 6)):
        broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
    start, end = sorted(rng.randrange(len(text)) for _ in range(2))
    return rng.choice([bytes(broken), text[:end], text[start:], text[:start] + text[end:], text[:end] + text[start:]])


def push(rng, case: Watching, csv: bytes) -> str:
    """One model through everything; returns what became of it."""
    content = json.loads(case.text)
    file = _bytes(rng, case.content) if rng.random() < 0.25 else _replaced(rng, content)
    try:
        about_model(file)
    except ValueError as error:
        readable(str(error))
        return "refused when read"
    try:
        found = watch_files(file, csv)
    except ValueError as error:
        readable(str(error))
        return "read, refused with the batch"
    readable(headline(found))
    for sentence in (*found.notices, *found.drift["sentence"]):
        readable(sentence)
    return "looked at"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("error")
    case = watching("law_school", lambda_fair=3.0, lambda_concepts=0.05)
    csv = case.batch.head(60).to_csv(index=False).encode()
    became, longest = Counter(), 0.0
    for number in range(arguments.cases):
        started = time.perf_counter()
        try:
            became[push(random.Random(arguments.seed * 10**6 + number), case, csv)] += 1
        except BaseException:
            print(f"case {number} of seed {arguments.seed}")
            raise
        longest = max(longest, time.perf_counter() - started)
    assert longest < MAX_SECONDS
    print(dict(became), f"longest {longest:.1f} s")


if __name__ == "__main__":
    main()
