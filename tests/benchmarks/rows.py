"""From 5,000 rows to a million through the library: ``python -m tests.benchmarks.rows``.

Each size in a process of its own: seconds of f's training and of COMMOD's, and the most memory held beyond what was
there before `fit`, against that of the data frame.
"""

import argparse
import gc
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from tests.benchmarks.large import table

SIZES = (5_000, 20_000, 100_000, 300_000, 1_000_000)


def one(rows):
    """Fit f and COMMOD on so many rows; prints seconds of both, bytes of the data and of the peak."""
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    from commod import Commod

    frame = table(rows)
    y, s = (frame.pop("outcome") == "yes").astype(int), (frame.pop("group") == "a").astype(int)
    texts = [name for name in frame if name.startswith("c")]
    encode = make_column_transformer((OneHotEncoder(), texts), remainder=StandardScaler())
    started = time.perf_counter()
    f = make_pipeline(encode, LogisticRegression(max_iter=1000)).fit(frame, y)
    of_f = time.perf_counter() - started
    gc.collect()
    held = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # from now on, the most that was held is counted anew
    started = time.perf_counter()
    g = Commod(f, lambda_fair=3.0, lambda_ratio=0.05, lambda_concepts=0.05).fit(frame, y, sensitive_features=s)
    of_g = time.perf_counter() - started
    peak = memory("VmHWM")
    changed = float(np.mean(g.predict(frame) != f.predict(frame)))
    print(of_f, of_g, int(frame.memory_usage(deep=True).sum()), peak - held, changed)


def memory(name):
    """Bytes that this process holds (VmRSS), or the most that it has held (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", type=int)
    arguments = parser.parse_args()
    if arguments.one:
        one(arguments.one)
        return
    print("     rows  f (s)  COMMOD (s)  × f  per row, × the first  data (MB)  more at the peak (MB)  × data  changed")
    first = None
    for rows in SIZES:
        command = [sys.executable, "-m", "tests.benchmarks.rows", "--one", str(rows)]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        of_f, of_g, data, more, changed = map(float, found)
        first = first or of_g / rows
        print(
            f"{rows:9,} {of_f:6.2f} {of_g:11.2f} {of_g / of_f:4.1f} {of_g / rows / first:22.2f} {data / 2**20:10.0f} "
            f"{more / 2**20:22.0f} {more / data:7.2f} {changed:8.1%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
