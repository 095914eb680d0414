"""A file of 200,000 rows and 30 columns, uploaded and explored: ``python -m tests.benchmarks.large``.

Release of the λ_fair slider to the new point, in one run with law_school, in Chromium: read the ratio.

``--pages`` opens Limits and Compare instead, on a table in the likeness of bank marketing (45,211 rows unless
``--rows`` says otherwise), and prints when the first picture and when the last section is there. ``--methods``
trains models of these methods without a browser, on all rows and as a large table is swept, in one process.
"""

import argparse
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from commod.datasets import Choice, add_task, guess_columns, make_task
from commod.experiments import prepare, scene
from commod.experiments.sweep import EFFORT_LARGE, Shared, fit_cell, lines_of
from tests.benchmarks.latency import WATCH, opened, places, release
from tests.browsing import chromium, follow, serve, still


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
    frame["y"] = np.where(rng.random(rows) < 1 / (1 + np.exp(3.3 - merit)), "yes", "no")
    return frame


def pages(browser, address, folder, rows):
    """Seconds from a click on Limits, and in another session on Compare, to the first picture and the last section."""
    path = Path(folder) / "bank.csv"
    bank(rows).to_csv(path, index=False)
    asked = {
        "Limits": ("How few changes", "Why not fair in every sense"),
        "Compare": ("Which method changes", "Take it away"),
    }
    for name, (title, last) in asked.items():
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{address}/your_data")
        page.locator("input[type=file]").set_input_files(path)
        page.get_by_role("heading", name="Columns of bank.csv").wait_for(timeout=120_000)
        page.get_by_label("Sensitive attribute").click()
        page.get_by_role("option", name="marital", exact=True).click()
        page.get_by_role("button", name="Use these data").click()
        page.get_by_role("heading", name="In use: bank.csv").wait_for(timeout=120_000)
        started = time.perf_counter()
        follow(page, f"pages/{name.lower()}.py")
        page.get_by_role("heading", name=title).wait_for(timeout=120_000)
        page.locator("[data-testid=stVegaLiteChart]").first.wait_for(timeout=600_000)
        first = time.perf_counter() - started
        page.get_by_role("heading", name=last).wait_for(timeout=600_000)
        whole = time.perf_counter() - started
        print(f"{rows:,} rows, {name:8} first picture {first:6.1f} s, complete {whole:6.1f} s", flush=True)
        page.close()


def figures(whole, name):
    """Of the models of a large table's effort, at the same settings whatever comes out."""
    shared, cells = Shared(), [cell for line in lines_of(name, EFFORT_LARGE) for cell in line]
    models = [fit_cell(whole, cell, "demographic_parity", shared) for cell in cells]
    return pd.DataFrame([whole.figures(model.decisions_test) for model in models])


def methods(names, rows):
    """Seconds that the same models take on all rows, and as a large table is swept, and how far they part."""
    frame = bank(rows)
    kinds = guess_columns(frame.drop(columns=["y", "marital"]))["kind"].to_dict()
    task = make_task(frame, Choice("y", "yes", "marital", ("married", "single"), kinds), name="bank").task
    add_task(task)
    large, whole = scene.LARGE, prepare(task.name)
    print(f"{rows:,} rows, {len(whole.train):,} of them to learn from; {scene.MAX_SAMPLE:,} of a large table")
    for name in names:
        seconds, swept = {}, {}
        for bound in (rows, large):
            scene.LARGE = bound  # up to so many rows, a table is not large
            started = time.perf_counter()
            swept[bound] = figures(replace(whole), name)
            seconds[bound] = time.perf_counter() - started
        one, other = swept.values()
        apart = {figure: (one[figure] - other[figure]).abs().mean() for figure in ("p_rule", "accuracy", "change_rate")}
        shown = ", ".join(f"{figure} {value:.4f}" for figure, value in apart.items())
        print(
            f"{name:16} {seconds[rows]:6.1f} s -> {seconds[large]:6.1f} s; points apart in the mean by {shown}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--pages", action="store_true")
    parser.add_argument("--methods", type=lambda text: text.split(","))
    parser.add_argument("--moves", type=int, default=9)
    arguments = parser.parse_args()
    rows = arguments.rows or (45_211 if arguments.pages or arguments.methods else 200_000)
    if arguments.methods:
        return methods(arguments.methods, rows)
    if arguments.pages:
        with serve() as address, chromium() as browser, tempfile.TemporaryDirectory() as folder:
            return pages(browser, address, folder, rows)
    there = places(arguments.moves)
    with serve() as address, chromium() as browser, tempfile.TemporaryDirectory() as folder:
        page = opened(browser, address)
        small = [release(page, share) for share in there]
        page.close()
        path = Path(folder) / "large.csv"
        table(rows).to_csv(path, index=False)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{address}/your_data")
        started = time.perf_counter()
        page.locator("input[type=file]").set_input_files(path)
        page.get_by_role("heading", name="Columns of large.csv").wait_for(timeout=120_000)
        read = time.perf_counter() - started
        page.get_by_role("button", name="Use these data").click()
        page.get_by_role("heading", name="In use: large.csv").wait_for(timeout=120_000)
        page.get_by_role("link", name="Explore these data").click()
        page.get_by_role("heading", name="What fairness costs").wait_for(timeout=120_000)
        still(page)
        page.evaluate(WATCH)
        large, seen = ([release(page, share) for share in shares] for shares in (there, there[-2::-1]))
        base, middle = statistics.median(small), statistics.median(large)
        print(f"uploaded, read and guessed in {read:.1f} s ({path.stat().st_size / 2**20:.0f} MB)")
        print(f"law_school        median {base:6.0f} ms  1.0×")
        print(f"{rows:,} rows      median {middle:6.0f} ms  {middle / base:.1f}×  (asked for: 10×)")
        print(f"  a setting seen before {statistics.median(seen):.0f} ms, {statistics.median(seen) / base:.1f}×")


if __name__ == "__main__":
    main()
