"""What a fit costs by the number of features: ``python -m tests.benchmarks.features``.

4,000 rows; encoded features that are numbers, or the levels of one category. Seconds of one core, by the clock of the
process; the exponent is that of the time between two numbers of features. Below, what the encoder makes of columns that
used to take minutes: thousands of levels, and dates.
"""

import argparse
import math
import time

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from commod import Commod
from commod.datasets import TabularEncoder

ROWS = 4000


def encoded(kind, d, seed=0):
    """An encoded table of about d features, labels and groups."""
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 2, ROWS)
    x = rng.normal(size=ROWS) + 0.8 * s
    if kind == "numbers":
        X = pd.DataFrame(rng.normal(size=(ROWS, d - 1)), columns=[f"n{i}" for i in range(d - 1)])
        merit = x + X["n0"]
    else:
        level = rng.integers(0, d - 1, ROWS)
        X = pd.DataFrame({"level": pd.Categorical(level)})
        merit = x + 0.5 * rng.normal(size=d - 1)[level]
    encoder = TabularEncoder(max_levels=d)
    X = pd.DataFrame(encoder.fit_transform(X.assign(x=x)), columns=encoder.feature_names_out_)
    return X, (merit + rng.normal(size=ROWS) > 0.4).astype(int), s


def seconds_of(X, y, s, f=None):
    """Seconds of one fit, and the fitted model."""
    f = f or LogisticRegression(max_iter=1000).fit(X, y)
    g = Commod(f, lambda_fair=3.0)
    started = time.process_time()
    g.fit(X, y, sensitive_features=s)
    return time.process_time() - started, g


def raw_columns():
    """One column beside a number: of 1,000 levels, of 4,000 levels, of dates as dates, and of dates as text."""
    rng = np.random.default_rng(0)
    s = rng.integers(0, 2, ROWS)
    x = rng.normal(size=ROWS) + 0.8 * s
    y = (x + rng.normal(size=ROWS) > 0.4).astype(int)
    days = pd.Series(pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 3000, ROWS), unit="D"))
    columns = {
        "1,000 levels": [f"code {i}" for i in rng.integers(0, 1000, ROWS)],
        "a level for each row": [f"name {i}" for i in range(ROWS)],
        "dates": days,
        "dates as text": days.astype(str),
    }
    for name, column in columns.items():
        X = pd.DataFrame({"x": x, "column": column})
        f = Commod().fit(X, y, sensitive_features=s).base_model_
        yield name, *seconds_of(X, y, s, f)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--features", type=int, nargs="+", default=[62, 125, 250, 500, 1000, 2000])
    arguments = parser.parse_args()
    for kind in ("numbers", "levels"):
        times = {}
        for d in arguments.features:
            X, y, s = encoded(kind, d)
            seconds, g = seconds_of(X, y, s)
            times[X.shape[1]] = seconds
            (before, t), (now, u) = [*times.items()][-2:] if len(times) > 1 else [(1, 1.0)] * 2
            slope = f"  exponent {math.log(u / t) / math.log(now / before):.1f}" if len(times) > 1 else ""
            told = "converged" if g.converged_ else "not converged"
            print(f"{kind}, {X.shape[1]:5,} features  {seconds:7.2f} s  {g.n_iter_:4} steps, {told}{slope}", flush=True)
        wide = {d: t for d, t in times.items() if d >= 245}
        if len(wide) > 1:
            first, last = min(wide), max(wide)
            exponent = math.log(wide[last] / wide[first]) / math.log(last / first)
            print(f"{kind}, from {first:,} to {last:,} features: d^{exponent:.2f}")
    for name, seconds, g in raw_columns():
        print(f"{name}: {seconds:.2f} s, {len(g.coef_)} encoded features")


if __name__ == "__main__":
    main()
