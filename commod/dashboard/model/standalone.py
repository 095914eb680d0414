"""A page without a server: one HTML file with every model of a grid, which `picture.js` draws as in the app.

Every model is trained here; nothing is interpolated. Numbers are kept to 1e-10. What many models share is kept once.
"""

import hashlib
import html
import json
import math
import zlib
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from commod import __version__
from commod.charts.parts import towards
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.model.picture import FEW_GROUPS, names_of, picture_of
from commod.dashboard.model.training import fit_result
from commod.dashboard.state.link import as_text, to_link
from commod.dashboard.state.settings import CONTROLS, SLIDERS, Settings, criteria_of, in_words
from commod.dashboard.text.language import FIRST, LANGUAGES, declared, phrase, phrases
from commod.dashboard.text.stories import called, story
from commod.datasets import Task, TaskSpec, add_task, is_known, is_shipped, load_task
from commod.experiments import prepare
from commod.explain.checks import CHECKS, MARKS
from commod.explain.what_if import FeatureRange, explain_merit, feature_ranges
from commod.metrics.counts import undominated
from commod.metrics.figures import CRITERIA
from commod.models.export import to_portable
from commod.models.rescaler import ACROSS, MIRROR

# What a file holds: these values of the sliders and the opening ones, every form of update, both criteria.
GRID: dict[str, tuple[Any, ...]] = {
    "lambda_fair": (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0),
    "lambda_ratio": (0.0, 0.02, 0.05, 0.15, 0.5),
    "lambda_concepts": (0.0, 0.05, 0.2, 1.0),
    "k": CONTROLS["k"].grid,
}
# In the order in which the models are numbered; k is a reading of a model.
AXES = ("fairness", "update", "lambda_ratio", "lambda_concepts", "lambda_fair")
# Test people whose rows are in a file, if rows are allowed.
MOST_PEOPLE = 200
# Questions of the tree of the changes.
DEPTH = 3
_BROWSER = Path(__file__).parents[1] / "views" / "browser"

Grid = Mapping[str, Sequence[Any]]
Row = dict[str, Any]


def settings_on_page(settings: Settings, grid: Grid = GRID) -> dict[str, list[Any]]:
    """The grid on some data: including the setting itself, and only values that the data allow."""
    d = prepare(*settings.scene()).encoded_test.shape[1]
    found = {name: sorted({*grid[name], getattr(settings, name)}) for name in SLIDERS}
    found["k"] = [k for k in found["k"] if k <= d]
    updates = grid.get("update") or CONTROLS["update"].options(settings.task_name)
    return {"fairness": list(criteria_of(settings.task_name)), "update": list(updates)} | found


def in_words_of(grid: Grid) -> str:
    """The grid, as the command states it."""
    count = math.prod(len(grid[name]) for name in AXES)
    sliders = "; ".join(f"{CONTROLS[name].name} {', '.join(map(as_text, grid[name]))}" for name in SLIDERS)
    return f"{count:,} models: {sliders}; {' and '.join(grid['fairness'])}; updates {', '.join(grid['update'])}."


def parts_of_grid(settings: Settings, grid: Grid) -> list[tuple[Settings, Grid]]:
    """Arguments of `models_of`, in order: each part can be computed separately."""
    pairs = product(grid["fairness"], grid["update"])
    return [(replace(settings.model(), fairness=fairness, update=update), grid) for fairness, update in pairs]


def models_of(
    settings: Settings, grid: Grid, own: Task | None = None, report: Callable[[float], None] | None = None
) -> bytes:
    """Every model of one criterion and one update, and for each k which features go together; packed.

    `own` is the data set if another process may not know it.
    """
    if own is not None and not is_known(own.name):
        add_task(own)
    ranges = feature_ranges(load_task(settings.task_name).X, leave_out=prepare(*settings.scene()).f)
    rows, pairs = [], list(product(grid["lambda_ratio"], grid["lambda_concepts"]))
    here = settings
    for done, (ratio, concepts) in enumerate(pairs, start=1):
        for fair in grid["lambda_fair"]:
            here = replace(settings, lambda_ratio=ratio, lambda_concepts=concepts, lambda_fair=fair)
            rows.append(_rounded(_row(fit_result(here), ranges)))
        if report is not None:
            report(done / len(pairs))
    groups = [[group.tolist() for group in fit_result(replace(here, k=k)).g.feature_groups_] for k in grid["k"]]
    return _packed({"rows": rows, "groups": groups})


def compute(
    settings: Settings, grid: Grid, *, jobs: int = -1, progress: Callable[[int, int, float | None], None] | None = None
) -> list[bytes]:
    """All parts, in processes of this machine."""
    task, parts, found = load_task(settings.task_name), parts_of_grid(settings, grid), []
    own = None if is_shipped(task.name) else task
    run = Parallel(n_jobs=jobs, return_as="generator")(delayed(models_of)(*part, own) for part in parts)
    size = math.prod(len(grid[name]) for name in AXES) // len(parts)
    for part in run:
        found.append(part)
        if progress is not None:
            progress(len(found) * size, len(parts) * size, None)
    return found


def index_html(specs: Mapping[str, TaskSpec]) -> str:
    """A list of pages, one for each data set."""
    links = "".join(f'<li><a href="{name}.html">{html.escape(spec.title)}</a></li>' for name, spec in specs.items())
    style = (_BROWSER / "standalone.css").read_text(encoding="utf-8")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>COMMOD</title><style>{style}</style></head><body><main><h1>Fairer, at what price?</h1>"
        f"<ul>{links}</ul></main></body></html>\n"
    )


def page_html(settings: Settings, grid: Grid, parts: Sequence[bytes], *, people: bool = False, app: str = "") -> str:
    """The file; `parts` are those of `models_of`.

    `people`: whether it may contain rows of the user's own data. `app`: address of the full app.
    """
    found = [json.loads(zlib.decompress(part)) for part in parts]
    names = ("picture.html", "picture.css", "picture.js", "standalone.css", "standalone.js", "standalone.html")
    shape, style, component, own_style, host, page = ((_BROWSER / name).read_text(encoding="utf-8") for name in names)
    # One source for both: the app imports the component, but a file opened from disk cannot import anything.
    script = component.replace("export default function", "const mount = function") + host
    fields = {
        "title": html.escape(declared(FIRST, load_task(settings.task_name).spec.title)),
        "digest": b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "style": own_style,
        "picture": f"<style>{style}</style>{shape}",
        "pack": b64encode(_packed(_content(settings, grid, found, people, app))).decode(),
        "script": script,
    }
    for name, text in fields.items():
        page = page.replace(f"<!--{name}-->", text)
    return page


# ---- one model ----


def _row(result: FitResult, ranges: Mapping[str, FeatureRange]) -> Row:
    """Everything the page says about a model: its picture, and what is drawn below."""
    pictures = {language: picture_of(result, language, complete=True) for language in LANGUAGES}
    picture, changes = pictures[FIRST], result.changes[["raised", "lowered"]]
    return {
        "picture": {name: value for name, value in picture.items() if name not in ("text", "settings")},
        "text": {language: dict(each["text"]) | {"setting": ""} for language, each in pictures.items()},
        "people": [changes.loc[group["code"]].astype(int).tolist() for group in picture["groups"]],
        "model": _model(result),
        "tree": _tree(result) if result.changed_train.any() else [],
        "checks": _checks(result, ranges),
    }


def _model(result: FitResult) -> dict[str, Any]:
    """The rule: constants, and weights of encoded features."""
    g = result.g
    found: dict[str, Any] = {"r": [g.intercept_, _sparse(g.coef_)]}
    found |= {"s": [g.shift_intercept_, _sparse(g.shift_coef_)]} if g.has_shift else {}
    found |= {"step": g.rescaler_.shift_step} if g.decides else {}
    return {name: _rounded(value, 12) for name, value in found.items()}  # a person's logit is a sum of many


def _tree(result: FitResult) -> list[list[Any]]:
    columns = ("node", "parent", "rule", "leaf", "count", "changed")
    nodes = result.tree(DEPTH, (DEPTH,)).nodes
    return [list(row) for row in zip(*(nodes[name].tolist() for name in columns), strict=True)]


def _checks(result: FitResult, ranges: Mapping[str, FeatureRange]) -> list[list[Any]]:
    """Answers to the checks that need no refits: their names, marks and counts."""
    if not result.changed_test.any():
        return []
    # What f does with more merit is not shown here.
    rows, decide = result.scene.test.X, result.g.decision_function
    merit = explain_merit(result.task, rows, lambda some: np.zeros(len(some)), decide, ranges=ranges)
    answers = result.answers(merit=merit)
    record = result.record
    expected = {"right": float(np.average(record["expected"].fillna(0.0), weights=record["count"]))}
    return [[name, each.mark, each.part, each.whole, expected.get(name)] for name, each in answers.items()]


# ---- what the models share ----


def _content(settings: Settings, grid: Grid, parts: Sequence[Any], people: bool, app: str) -> dict[str, Any]:
    rows = [row for part in parts for row in part["rows"]]
    scene, start = prepare(*settings.scene()), fit_result(settings)
    keys, own = list(product(grid["fairness"], grid["update"])), not is_shipped(scene.task.name)
    size = len(rows) // len(grid["fairness"])
    has_rows = people if own else scene.task.spec.may_be_passed_on
    return {
        "made": f"commod {__version__}",
        "query": to_link(settings.model()),
        "grid": {name: [as_text(value) for value in values] for name, values in grid.items()},
        "good": scene.task.spec.favourable == 1,
        "many": len(rows[0]["people"]) > FEW_GROUPS,
        "criteria": {
            fairness: _criterion(fairness, [row["picture"]["point"] for row in rows[i * size : (i + 1) * size]])
            for i, fairness in enumerate(grid["fairness"])
        },
        "groups": {
            f"{fairness} {update}": part["groups"] for (fairness, update), part in zip(keys, parts, strict=True)
        },
        "models": _columns(rows),
        "words": {
            language: _texts(settings, grid, start, language) | _names(start, rows, language) for language in LANGUAGES
        },
        "person": _person(start, has_rows) if people or not own else None,
        "app": app,
    }


def _criterion(fairness: str, points: Sequence[Mapping[str, float | None]]) -> dict[str, Any]:
    """The figure of a criterion, the models that no other beats, and the range of all models."""
    shown = [np.array([point[axis] for point in points], dtype=float) for axis in ("fairness", "accuracy")]
    best = undominated(CRITERIA[fairness].gain(shown[0]), shown[1])
    span = [[np.nanmin(values), np.nanmax(values)] for values in shown]
    return {"figure": CRITERIA[fairness].figure_name, "frontier": np.flatnonzero(best).tolist(), "span": span}


def _texts(settings: Settings, grid: Grid, start: FitResult, language: str) -> dict[str, Any]:
    """All texts around the models, in one language."""
    spec = start.task.spec
    no, yes = (declared(language, outcome) for outcome in spec.outcomes)
    states = (("stays", yes), ("now", yes), ("now", no), ("stays", no))
    own = {name.partition(".")[2]: text for name, text in phrases(language).items() if name.startswith("standalone.")}
    order = [group["code"] for group in picture_of(start, language, complete=True)["groups"]]
    titled = {
        name: {value: declared(language, title) for value, title in CONTROLS[name].options(settings.task_name).items()}
        for name in ("fairness", "update")
    }
    behind = {
        update: declared(language, in_words(replace(settings, update=update, k=1))) for update in titled["update"]
    }
    return own | {
        "title": declared(language, spec.title),
        # The texts after the values of the sliders.
        "behind": {update: words.partition("k 1")[2] for update, words in behind.items()},
        "story": story(language, spec),
        "models": phrase(language, "explore.models").replace("**", ""),
        "yes": yes,
        "no": no,
        "people": declared(language, spec.people),
        "legend": phrase(language, "dots.legend", yes=yes),
        "called": [called(language, spec, code) for code in order],
        "states": [phrase(language, f"dots.{state}", outcome=outcome) for state, outcome in states],
        "alt": phrase(language, "dots.alt"),
        "controls": {name: declared(language, CONTROLS[name].label) for name in (*SLIDERS, *titled)},
        "symbols": {name: CONTROLS[name].name for name in SLIDERS},
        "options": titled,
        "names": {fairness: names_of(fairness, language) for fairness in grid["fairness"]},
        "meaning": {name: phrase(language, f"picture.{CRITERIA[name].figure_name}") for name in grid["fairness"]},
        "axis": {name: declared(language, CRITERIA[name].figure.axis_title) for name in grid["fairness"]},
        "along": {
            name: towards(names_of(name, language)[0], declared(language, CRITERIA[name].figure.fairer))
            for name in grid["fairness"]
        },
        "checks": {name: declared(language, check.title) for name, check in CHECKS.items()},
        "marks": {mark: [sign, declared(language, word)] for mark, (word, sign) in MARKS.items()},
    }


def _names(start: FitResult, rows: Sequence[Row], language: str) -> dict[str, Any]:
    """Names of features and their values, and the rules of trees whose wording differs from these."""
    scene = start.scene
    ranges = feature_ranges(scene.task.X, leave_out=scene.f)
    units = {each.name: each.unit for each in scene.task.spec.features}

    def named(column: str) -> dict[str, Any]:
        known, unit = ranges[column], units.get(column, "")
        high = f"{known.in_words(known.high)} {unit if unit != 'count' else ''}".strip()
        return {"label": declared(language, scene.task.label(column))} | (
            {"low": declared(language, known.in_words(known.low)), "high": declared(language, high)}
            if known.is_number
            else {"levels": [declared(language, str(level)) for level in sorted(known.levels, key=str)]}
        )

    rules = {node[2]: declared(language, node[2]) for row in rows for node in row["tree"]}
    return {
        "features": [declared(language, scene.task.label(*origin)) for origin in scene.encoder.origin_],
        "columns": [named(column) for column in dict.fromkeys(column for column, _ in scene.encoder.origin_)],
        "rules": {rule: text for rule, text in rules.items() if text != rule},
    }


def _person(start: FitResult, rows: bool) -> dict[str, Any] | None:
    """What the page needs to decide about one person: f as a sum over raw features, and the people to start with.

    None if f is not such a sum. Without `rows` there is one invented person, in the middle of every feature.
    """
    g, scene = start.g, start.scene
    f, encoder = to_portable(g)["f"], g.encoder_
    if f["kind"] != "logistic":
        return None
    own = scene.f[:-1].named_steps if hasattr(scene.f, "named_steps") else {}
    behind = next((step for step in own.values() if hasattr(step, "origin_")), encoder)
    weights = dict(zip(behind.origin_, np.asarray(f["coef"]) / behind.scale_, strict=True))
    columns = list(dict.fromkeys(column for column, _ in encoder.origin_))
    ranges = feature_ranges(scene.task.X, leave_out=scene.f)
    frame = scene.task.features(scene.test.X)[columns]
    chosen = np.unique(np.linspace(0, len(frame) - 1, min(MOST_PEOPLE * rows, len(frame))).astype(int))
    return {
        "columns": [_column(ranges[name]) for name in columns],
        "encoded": [
            [columns.index(column), _plain(level), float(mean), float(scale), float(weights.get((column, level), 0.0))]
            for (column, level), mean, scale in zip(encoder.origin_, encoder.mean_, encoder.scale_, strict=True)
        ],
        "intercept": float(f["intercept"] - (np.asarray(f["coef"]) * behind.mean_ / behind.scale_).sum()),
        "line": float(g.line_),
        "acts_on": g.rescaler_.acts_on,
        "mirror": MIRROR,
        "across": ACROSS,
        "people": [[_plain(value) for value in row] for row in frame.iloc[chosen].itertuples(index=False)],
        "middle": [_plain(encoder.medians_.get(name, frame[name].mode().iloc[0])) for name in columns],
    }


def _column(known: FeatureRange) -> dict[str, Any]:
    if known.is_number:
        return {"low": known.low, "high": known.high}
    return {"levels": [_plain(level) for level in sorted(known.levels, key=str)]}


# ---- how it is kept ----


def _packed(content: Any) -> bytes:
    return zlib.compress(json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode(), 9)


def _columns(rows: Sequence[Any]) -> dict[str, Any]:
    """Documents of one shape as one document of columns; columns with few values store each once, and their places."""
    first = rows[0]
    if isinstance(first, dict) and all(row.keys() == first.keys() for row in rows):
        return {"object": {name: _columns([row[name] for row in rows]) for name in first}}
    if isinstance(first, list) and all(isinstance(row, list) and len(row) == len(first) for row in rows):
        return {"list": [_columns(column) for column in zip(*rows, strict=True)]}
    places: dict[str, int] = {}
    index = [places.setdefault(json.dumps(row), len(places)) for row in rows]
    if len(places) > len(rows) / 2:
        return {"all": rows}
    return {"few": [json.loads(text) for text in places]} | ({} if len(places) == 1 else {"index": index})


def _rounded(value: Any, digits: int = 10) -> Any:
    """The same with numbers rounded to this many decimals."""
    if isinstance(value, dict):
        return {name: each if name == "model" else _rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each, digits) for each in value]
    return round(value, digits) + 0.0 if isinstance(value, float) else value


def _sparse(weights: pd.Series) -> list[Any]:
    """Places and values of the non-zero entries, alternating."""
    return [each for i, value in enumerate(weights) if value != 0 for each in (i, float(value))]


def _plain(value: Any) -> Any:
    """In JSON's types; a gap is null."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return None
    return value.item() if isinstance(value, np.generic) else value
