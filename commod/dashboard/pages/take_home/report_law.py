"""What rules on audits ask for: impact ratios by category, and who may be harmed how."""

from typing import Any

import numpy as np
import pandas as pd

from commod.dashboard.model.fitted import FitResult
from commod.datasets import is_shipped, load_task
from commod.datasets.load import data_of
from commod.metrics.fairness import impact_table

UNKNOWN = "not known"


def categories(result: FitResult) -> dict[str, tuple[pd.Series, tuple[str, ...]]]:
    """Ways to part the test people: by each attribute, then crossed, as far as the data have them."""
    task, test = result.task, result.scene.test
    found: dict[tuple[str, ...], tuple[str, pd.Series]] = {}
    parted = [(task, test.sensitive)]
    if is_shipped(task.name):
        names = load_task(data_of(task.name)).spec.task_names.values()
        parted += [(each, each.sensitive.loc[test.X.index]) for each in map(load_task, names) if each.grouping.margins]
    for each, codes in parted:
        for name, (margin, groups) in each.margins(codes).items():
            found.setdefault(groups, (name, margin))
        found.setdefault(each.groups, (each.spec.sensitive, codes))
    return {f"{name} ({len(groups)} categories)": (codes, groups) for groups, (name, codes) in found.items()}


def impact_ratios(result: FitResult) -> pd.DataFrame:
    """The tables of New York City's Local Law 144, of f and of g, one below the other.

    Columns ``attribute, category, model, applicants, selected, selection_rate, impact_ratio, above_median,
    scoring_rate, scoring_impact_ratio``. Selected: given the favourable decision. Scored: a higher score for it than
    the median of all test people.
    """
    scene, favourable = result.scene, result.task.spec.favourable
    models = {"f": (scene.decisions_test, scene.scores_test), "g": (result.decisions, result.scores)}
    unknown = result.task.n_unknown_test(scene.seed)
    parts = []
    for title, (codes, groups) in categories(result).items():
        for model, (decisions, scores) in models.items():
            score = np.asarray(scores if favourable else -scores)
            decided, scored = (
                impact_table(codes, groups, here) for here in (decisions == favourable, score > np.median(score))
            )
            decided.columns = pd.Index(["applicants", "selected", "selection_rate", "impact_ratio"])
            scored.columns = pd.Index(["applicants", "above_median", "scoring_rate", "scoring_impact_ratio"])
            table = decided.join(scored.drop(columns="applicants")).rename_axis("category").reset_index()
            nobody = {"category": UNKNOWN, "applicants": int((codes < 0).sum()) + unknown}
            table = pd.concat([table, pd.DataFrame([nobody])], ignore_index=True)
            parts.append(table.assign(attribute=title, model=model))
    columns = ["attribute", "category", "model", *decided, *scored.columns[1:]]
    return pd.concat(parts, ignore_index=True)[columns].astype({"selected": "Int64", "above_median": "Int64"})


def law_parts(result: FitResult) -> dict[str, Any]:
    """For the template: ``impact`` (title and rows of each table) and ``harm`` (rows by group)."""
    found = impact_ratios(result)
    of_f, of_g = (found[found["model"] == model] for model in ("f", "g"))
    tables: dict[str, list[list[str]]] = {}
    for row, before in zip(of_g.itertuples(), of_f["impact_ratio"], strict=True):
        few = row.category != UNKNOWN and row.applicants and np.isnan(row.impact_ratio)
        shares = [f"{row.selected:,}", _rate(row.selection_rate), _ratio(row.impact_ratio), _rate(row.scoring_rate)]
        cells = [*(["–"] * 4 if row.category == UNKNOWN else shares), _ratio(row.scoring_impact_ratio), _ratio(before)]
        tables.setdefault(str(row.attribute), []).append(
            [f"{row.category}{' *' if few else ''}", f"{row.applicants:,}", *cells]
        )
    return {"impact": list(tables.items()), "harm": _harm(result)}


def _rate(share: float) -> str:
    return "–" if np.isnan(share) else f"{share:.1%}"


def _ratio(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"


def _harm(result: FitResult) -> list[list[str]]:
    """By group: people, those worse off than under f, and those wrongly denied by the record, by f and by g."""
    scene, good = result.scene, result.task.spec.favourable
    f, g = (np.asarray(each) == good for each in (scene.decisions_test, result.decisions))
    deserving, rows = scene.test.y.to_numpy() == good, []
    for code, name in enumerate(result.task.groups):
        here = (scene.test.sensitive == code).to_numpy()
        worse, due = (here & f & ~g).sum(), here & deserving
        denied = [f"{(~model)[due].mean():.1%}" if due.any() else "–" for model in (f, g)]
        rows.append([name, f"{here.sum():,}", f"{worse:,}", f"{due.sum():,}", *denied])
    return rows
