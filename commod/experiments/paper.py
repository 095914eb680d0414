"""The experiments of the paper: the models each needs, and the tables read from them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.linear_model import LinearRegression

from commod.experiments.grid import Job, Progress, grid_of, run_grid
from commod.experiments.paper_figures import MODELS, calibration, example_with_two_concepts, posthoc_trees
from commod.experiments.paper_numbers import METHOD_ROWS, R_SQUARED, TABLE1, TABLE1_CELLS
from commod.experiments.results import read_result, results_directory, write_result
from commod.experiments.segments import Segments, cells_by_split
from commod.experiments.sweep import Cell

DATASETS = ("law_school", "compas")
DP, EO = "demographic_parity", "equalized_odds"
# With fewer splits a cell is not judged: two give an interval, but it says nothing.
LEAST_SPLITS = 3
# Methods of our Table 1: the paper's, and two more that do not need the group.
TABLE1_ROWS = (*METHOD_ROWS[:-1], "frappe_mlp", "bayes", METHOD_ROWS[-1])


@dataclass(frozen=True)
class Experiment:
    """A grid of models under one name, and the part of the paper that is read from it."""

    title: str
    shows: str
    jobs: Callable[[Sequence[str], int], list[Job]]
    seeds: int  # splits, by default
    measures: tuple[str, ...] = ()


# λ_fair and λ_ratio of the sensitivity analysis: as printed, and where ours act (why the two differ is not known).
PRINTED_GRID = ((0.5, 0.75, 1.0, 1.25, 1.5), (0.01, 0.04, 0.07, 0.1))
OWN_GRID = ((2.0, 2.5, 3.0, 3.5, 4.0), (0.01, 0.04, 0.07, 0.1))


def _sensitivity(datasets: Sequence[str], seeds: int) -> list[Job]:
    cells = [
        Cell("commod", value, (("lambda_ratio", ratio),))
        for fair, ratios in (PRINTED_GRID, OWN_GRID)
        for ratio in ratios
        for value in fair
    ]
    return [Job(*each) for each in product(datasets, ["logistic_regression"], range(seeds), [DP], cells)]


def _architectures(datasets: Sequence[str], seeds: int) -> list[Job]:
    cells = [
        Cell("commod", value, (("lambda_ratio", 0.05), ("rescaler", kind)))
        for kind in ("linear", "mlp")
        for value in (1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
    ]
    return [Job(*each) for each in product(["law_school"], ["logistic_regression"], range(seeds), [DP], cells)]


EXPERIMENTS = {
    "table1": Experiment(
        "Changes at equal fairness and accuracy",
        "Table 1, Figures 1, 3, 4, 5, 6 and 7",
        lambda datasets, seeds: grid_of(datasets, TABLE1_ROWS, [DP, EO], range(seeds), models=MODELS),
        seeds=5,
        measures=("tree", "concepts", "scores"),
    ),
    "sensitivity": Experiment("Sensitivity to seeds", "the three regressions of Section 6.4", _sensitivity, seeds=20),
    "figure8": Experiment("A linear ratio or a network", "Figure 8", _architectures, seeds=3),
}
# Made from single models; those of Figures 9 and 10 come from table1.
FOLLOW_UPS: dict[str, tuple[str, Callable[[pd.DataFrame], pd.DataFrame]]] = {
    "figure2": ("Two concepts on COMPAS", lambda _: example_with_two_concepts()),
    "figure9": ("Scores of g against scores of f", calibration),
    "figure10": ("Post-hoc trees or built-in concepts", posthoc_trees),
}
ALL = (*EXPERIMENTS, *FOLLOW_UPS)


def run_experiment(
    name: str,
    *,
    datasets: Sequence[str] = DATASETS,
    seeds: int | None = None,
    folder: Path | None = None,
    backend: str = "processes",
    scheduler: str | None = None,
    n_jobs: int = -1,
    progress: Progress | None = None,
) -> Path:
    """Run an experiment and return the path of its result; after a kill it continues where it stopped.

    With fewer splits or data sets than usual, the result gets another name: the Paper page reads complete ones.
    """
    if name not in ALL:
        raise ValueError(f"There is no experiment {name!r}: choose one of {', '.join(ALL)}.")
    usual, folder = folder is None, folder or results_directory()
    if name in FOLLOW_UPS:
        models, about = read_result(folder / "table1.parquet")
        if "law_school" not in set(models["dataset"]):
            raise ValueError(f"{name} needs table1 with law_school: run 'python -m commod paper table1' first.")
        target = folder / f"{name}.parquet"
        write_result(FOLLOW_UPS[name][1](models), target, {"experiment": name, "from": about})
        return target
    experiment = EXPERIMENTS[name]
    splits = experiment.seeds if seeds is None else seeds
    if splits < 1:
        raise ValueError(f"--seeds must be 1 or more, got {splits}.")
    for data in datasets:
        if data not in DATASETS:
            raise ValueError(f"The paper has no experiment on {data!r}: choose from {', '.join(DATASETS)}.")
    part = set(datasets) != set(DATASETS) or splits < experiment.seeds
    stem = f"{name}-{'-'.join(datasets)}-{splits}" if usual and part else name
    target, store = folder / f"{stem}.parquet", folder / f"{stem}.partial.jsonl"
    frame = run_grid(
        experiment.jobs(datasets, splits),
        store=store,
        measures=experiment.measures,
        backend=backend,
        scheduler=scheduler,
        n_jobs=n_jobs,
        progress=progress,
    )
    write_result(frame, target, {"experiment": name, "datasets": list(datasets), "splits": splits})
    store.unlink(missing_ok=True)
    return target


def table1(models: pd.DataFrame, data: str, criterion: str, segments: Segments) -> pd.DataFrame:
    """Change rate by cell of fairness and accuracy, as in the paper's Table 1: the mean over ``splits``.

    ``low, high``: its 95 % interval. ``printed``, ``verdict``: where the paper prints the cell.
    """
    here = models[(models["dataset"] == data) & (models["fairness"] == criterion) & (models["error"] == "")]
    cells = cells_by_split(here, segments, criterion)
    out = []
    for (method, fairness_q, accuracy_q), rows in cells.groupby(["method", "fairness_q", "accuracy_q"], sort=False):
        mean, low, high = _interval(rows["change_rate"].to_numpy())
        printed = _printed(data, method, fairness_q, accuracy_q) if criterion == DP else None
        out.append(
            {
                "method": method,
                "fairness_q": fairness_q,
                "accuracy_q": accuracy_q,
                "change_rate": mean,
                "low": low,
                "high": high,
                "splits": len(rows),
                "models": int(rows["models"].sum()),
                "printed": printed,
                "verdict": verdict_on_printed(mean, low, high, len(rows), printed),
            }
        )
    return pd.DataFrame(out)


def _interval(values: np.ndarray) -> tuple[float, float, float]:
    """Mean over splits and its 95 % interval (Student's t); one split has none."""
    mean = float(values.mean())
    if len(values) < 2:
        return mean, mean, mean
    half = float(stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    return mean, max(mean - half, 0.0), mean + half


def _printed(data: str, method: str, fairness_q: int, accuracy_q: int) -> float | None:
    cell = (fairness_q, accuracy_q)
    if cell not in TABLE1_CELLS or method not in TABLE1.get(data, {}):
        return None
    return TABLE1[data][method][TABLE1_CELLS.index(cell)]


def verdict_on_printed(mean: float, low: float, high: float, splits: int, printed: float | None) -> str:
    """Our change rate against a printed one: "better" (fewer changes), "equal", "worse" or "too few splits".

    "equal": the printed number, rounded to two digits, lies in our interval.
    """
    if printed is None:
        return ""
    if splits < LEAST_SPLITS or low == high:
        return "too few splits"
    if low - 0.005 <= printed <= high + 0.005:
        return "equal"
    return "better" if mean < printed else "worse"


def sensitivity_table(models: pd.DataFrame) -> pd.DataFrame:
    """R² of the paper's three regressions, by data set and range of λ_fair ("as printed" or "where ours act").

    Change rate, accuracy and P-Rule of g are each regressed on P-Rule and accuracy of f, λ_ratio and λ_fair.
    """
    frame = models[models["error"] == ""].copy()
    frame["lambda_ratio"] = frame["settings"].str.extract(r"λ_ratio ([\d.]+)", expand=False).astype(float)
    frame["range"] = np.where(frame["value"] <= PRINTED_GRID[0][-1], "as printed", "where ours act")
    # A model that changes nobody has f's figures: on every split, λ_ratio holds one back.
    figures = ["dataset", "split", "p_rule", "accuracy"]
    of_f = frame.loc[frame["change_rate"] == 0, figures].drop_duplicates(["dataset", "split"])
    frame = frame.merge(of_f, on=["dataset", "split"], suffixes=("", "_of_f"))
    rows: list[dict[str, Any]] = []
    for (data, span), part in frame.groupby(["dataset", "range"]):
        inputs = part[["p_rule_of_f", "accuracy_of_f", "lambda_ratio", "value"]].to_numpy()
        for figure, printed in R_SQUARED.items():
            r_squared = float(LinearRegression().fit(inputs, part[figure]).score(inputs, part[figure]))
            row = {"dataset": data, "range": span, "figure": figure, "r_squared": r_squared}
            rows.append(row | {"printed": printed, "models": len(part)})
    return pd.DataFrame(rows)
