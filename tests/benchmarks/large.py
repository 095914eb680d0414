"""A file of 200,000 rows and 30 columns, uploaded and explored: ``python -m tests.benchmarks.large``.

Release of the λ_fair slider to the new point, in one run with law_school, in Chromium: read the ratio.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from tests.benchmarks.latency import OURS, measure, moves
from tests.browsing import chromium, serve


def table(rows):
    """20 numbers and 8 categories, an outcome that hangs on a few of them, and a group that hangs on two."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, rows)
    numbers = rng.normal(size=(rows, 20))
    numbers[:, 0] += group
    numbers[:, 1] += 0.5 * group
    frame = pd.DataFrame({f"n{i}": numbers[:, i].round(3) for i in range(20)})
    for i in range(8):
        frame[f"c{i}"] = rng.choice([f"level {j}" for j in range(3 + i)], rows)
    merit = numbers[:, 0] + 0.5 * numbers[:, 1] + 0.3 * numbers[:, 2] + (frame["c0"] == "level 1") - 0.8
    frame["outcome"] = np.where(rng.random(rows) < 1 / (1 + np.exp(-merit)), "yes", "no")
    frame["group"] = np.where(group == 1, "a", "b")
    return frame


def bank(rows=45_211, seed=0):
    """A table in the likeness of bank marketing, nobody in it real: 7 numbers, 9 categories, 12 % who say yes.

    Whether somebody is single, the group, can be told from age and job; the outcome hangs on the length of the call, on
    how an earlier campaign ended, on money, and on being single.
    """
    rng = np.random.default_rng(seed)
    age = np.clip(18 + rng.gamma(4.0, 6.0, rows), 18, 95).round()
    single = rng.random(rows) < 1 / (1 + np.exp(0.16 * (age - 33)))
    jobs = "admin blue-collar entrepreneur housemaid management retired self-employed services student technician"
    job = rng.choice([*jobs.split(), "unemployed", "unknown"], rows)
    job = np.where(single & (rng.random(rows) < 0.15), "student", np.where(age > 60, "retired", job))
    before = rng.random(rows) < 0.18  # reached by an earlier campaign
    frame = pd.DataFrame(
        {
            "age": age.astype(int),
            "job": job,
            "marital": np.where(single, "single", np.where(rng.random(rows) < 0.16, "divorced", "married")),
            "education": rng.choice(["primary", "secondary", "tertiary", "unknown"], rows, p=[0.15, 0.51, 0.3, 0.04]),
            "default": np.where(rng.random(rows) < 0.018, "yes", "no"),
            "balance": (rng.normal(0, 400, rows) + rng.lognormal(6.3, 1.3, rows)).round().astype(int),
            "housing": np.where(rng.random(rows) < 0.56, "yes", "no"),
            "loan": np.where(rng.random(rows) < 0.16, "yes", "no"),
            "contact": rng.choice(["cellular", "telephone", "unknown"], rows, p=[0.65, 0.06, 0.29]),
            "day": rng.integers(1, 32, rows),
            "month": rng.choice("jan feb mar apr may jun jul aug sep oct nov dec".split(), rows),
            "duration": rng.gamma(1.3, 200, rows).round().astype(int),
            "campaign": 1 + rng.geometric(0.5, rows),
            "pdays": np.where(before, rng.integers(1, 400, rows), -1),
            "previous": np.where(before, 1 + rng.geometric(0.5, rows), 0),
            "poutcome": np.where(
                before, rng.choice(["failure", "other", "success"], rows, p=[0.6, 0.2, 0.2]), "unknown"
            ),
        }
    )
    merit = 0.004 * frame["duration"] + 2.3 * (frame["poutcome"] == "success") - 0.7 * (frame["housing"] == "yes")
    merit += (
        0.3 * (frame["education"] == "tertiary") + 0.9 * single + 0.6 * (job == "student") - 0.1 * frame["campaign"]
    )
    frame["y"] = np.where(rng.random(rows) < 1 / (1 + np.exp(3.9 - merit)), "yes", "no")
    return frame


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--moves", type=int, default=9)
    arguments = parser.parse_args()
    half = [0.35 + 0.6 * i / arguments.moves for i in range(arguments.moves)]
    places = half[::2] + half[1::2][::-1]
    with serve() as address, chromium() as browser, tempfile.TemporaryDirectory() as folder:
        small, _ = measure(browser, address, OURS, places)
        path = Path(folder) / "large.csv"
        table(arguments.rows).to_csv(path, index=False)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{address}/your_data")
        started = time.perf_counter()
        page.locator("input[type=file]").set_input_files(path)
        page.get_by_role("heading", name="What is what in large.csv").wait_for(timeout=120_000)
        read = time.perf_counter() - started
        page.get_by_role("button", name="Use these data").click()
        page.get_by_role("heading", name="In use: large.csv").wait_for(timeout=120_000)
        page.get_by_role("link", name="Explore these data").click()
        page.get_by_role("heading", name="Whose decisions change").wait_for(timeout=120_000)
        large, seen = moves(page, OURS, places)
        base, middle = statistics.median(small), statistics.median(large)
        print(f"uploaded, read and guessed in {read:.1f} s ({path.stat().st_size / 2**20:.0f} MB)")
        print(f"law_school        median {base:6.0f} ms  1.0×")
        print(f"{arguments.rows:,} rows      median {middle:6.0f} ms  {middle / base:.1f}×  (asked for: 10×)")
        print(f"  a setting seen before {statistics.median(seen):.0f} ms, {statistics.median(seen) / base:.1f}×")


if __name__ == "__main__":
    main()
