"""The sections of the Compare page that show all methods at once; the match of single models is in `match`."""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from commod.charts import export_chart, plot_methods
from commod.charts.compare import DEPLOYED, with_labels
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.computation import ComputeTask
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.service import Pending, draw_pending, get, result_of, submit
from commod.dashboard.state.settings import Settings, data_in_words, described
from commod.dashboard.text.escape import safe_csv
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_legend, html_table
from commod.dashboard.views.chart import Table, draw, offer
from commod.dashboard.views.methods import choose_model, cost_of, label_of
from commod.dashboard.views.points import Swept, as_rows, draw_cells, point_columns, rests_on
from commod.datasets import load_task
from commod.datasets.choice import ROLES, roles_json
from commod.experiments import Scene, Sweep
from commod.experiments.refits import n_refits
from commod.experiments.segments import (
    Segments,
    cell_table,
    cells_by_split,
    in_segments,
    mark_fewest,
    mark_frontiers,
    segments_of,
)
from commod.experiments.winners import BestAndOwn, Claim, apart_by_chance, best_models, claims_of, wins_in_words
from commod.explain.concepts import in_percent
from commod.metrics.figures import CRITERIA, FIGURES
from commod.models.competitors import METHODS
from commod.models.threshold import ONE_HALF
from commod.uploads.limits import count_of

# Of the trade-off, in pixels.
HEIGHT = 470
# Behind the change rate of a method that has no sound model in a cell.
NO_MODEL = " ✗"


@dataclass(frozen=True)
class Compared(Swept):
    """The same with the COMMOD model to be matched, and what is known of other splits."""

    scene: Scene
    chosen: int | None = None
    spread: Mapping[str, pd.DataFrame] = field(default_factory=dict)  # by method, its frontier on other splits

    @cached_property
    def of_f(self) -> dict[str, float]:
        """Figures of f on test."""
        return self.scene.figures(self.scene.decisions_test)

    @cached_property
    def rows(self) -> pd.DataFrame:
        """All models as points; ``id`` is the place of COMMOD's in their sweep, −1 for others."""
        rows = as_rows(self.points, self.criterion.name)
        rows["id"] = np.where(rows["method"] == "commod", rows.groupby("method").cumcount(), -1)
        rows["chosen"] = (rows["id"] >= 0) & (rows["id"] == (-1 if self.chosen is None else self.chosen))
        for name, points in self.spread.items():
            on_splits = points.groupby("model")
            at = rows.index[rows["method"] == name][frontier_of(self.sweeps[name])]
            for axis, figure in (("fairness", self.criterion.figure_name), ("change_rate", "change_rate")):
                mean, sd = on_splits[figure].mean().to_numpy(), on_splits[figure].std().to_numpy()
                rows.loc[at, f"{axis}_low"], rows.loc[at, f"{axis}_high"] = mean - sd, mean + sd
        return rows

    @property  # not cached: a wait in a cached property holds up all sessions in Python 3.11
    def sound(self) -> pd.Series:
        """Of all models, whether they still are ones."""
        in_order = [self.sweeps[name] for name in METHODS if name in self.sweeps]  # that of the points
        why = [result_of(tasks.collapsed(self.settings, sweep)) for sweep in in_order]
        return pd.Series([not reason for of_method in why for reason in of_method], index=self.points.index)

    @property
    def tradeoff(self) -> tuple[pd.DataFrame, int, dict[str, Any]]:
        """Fairness and changes of sound models, with f and where names stand; how many are left out; and the options.

        On a method's frontier no other model of it is as fair with fewer changes. Left out is what changes more than
        all frontiers, or is far less fair than f: most of the picture would be empty.
        """
        fairness = self.of_f[self.criterion.figure_name]
        gain = self.criterion.gain(self.rows["fairness"] - fairness)
        kept = mark_frontiers(self.rows[self.sound & (gain > -0.1)], gain)
        drawn = kept[kept["change_rate"] <= kept.loc[kept["best"], "change_rate"].max()]
        f = {name: self.of_f[name] for name in ("accuracy", "change_rate")} | {"label": DEPLOYED, "fairness": fairness}
        f |= {"name": "f", "settings": "unchanged", "best": True, "chosen": False, "id": -1}
        frame = pd.concat([drawn, pd.DataFrame([f])], ignore_index=True)
        ends = (float(frame["fairness"].min()), float(frame["fairness"].max()))
        options = {
            "styles": self.styles,
            "strong": label_of("commod") if "commod" in self.sweeps else self.styles[0].label,
            "fairness_title": self.fairness_title,
            "fairness_range": ends,
            "upward": self.criterion.upward,
            "axes": ("change_rate", "fairness"),
            "crosses": bool(self.spread),
            "height": HEIGHT,
        }
        named = with_labels(frame, x="change_rate", y="fairness", ends=ends, height=HEIGHT)
        return named, len(self.rows) - len(drawn), options

    @cached_property
    def cuts(self) -> Segments:
        return segments_of(self.settings.task_name, self.criterion.name, self.points)

    @cached_property
    def in_segments(self) -> pd.DataFrame:
        """Points with their segment."""
        return in_segments(self.rows, self.cuts, self.criterion.name)

    @property
    def cells(self) -> pd.DataFrame:
        """Mean change rates by cell, with who changes fewest of those that have sound models there.

        Models that change nobody are left out: their number says more about the sweep than about the method.
        """
        counted = self.in_segments[self.in_segments["change_rate"] > 0]
        means = cell_table(counted).round({"change_rate": 3})  # as they are written
        place = ["method", "fairness_q", "accuracy_q"]
        some = counted.loc[self.sound[counted.index], place].drop_duplicates()
        means = means.merge(some.assign(sound=True), on=place, how="left")
        means["sound"] = means["sound"].eq(True)
        marked = mark_fewest(means[means["sound"]])
        return pd.concat([marked, means[~means["sound"]].assign(blind=False, contested=False, fewest=False)])

    @property
    def has_all_spread(self) -> bool:
        """Whether every method is known on other splits: before, nobody can be said to win there."""
        return all(name in self.spread for name, sweep in self.sweeps.items() if frontier_of(sweep))

    @cached_property
    def by_split(self) -> pd.DataFrame | None:
        """Mean change rates by cell on each other split, of the models on the frontiers."""
        if not self.spread:
            return None
        points = pd.concat(self.spread.values(), ignore_index=True)
        return cells_by_split(points[points["change_rate"] > 0], self.cuts, self.criterion.name)


def frontier_of(sweep: Sweep) -> list[int]:
    """Places of a method's models that no other of them beats and that change somebody."""
    return [*np.flatnonzero(sweep.points["best"] & (sweep.points["change_rate"] > 0))]


def on_splits(settings: Settings, sweep: Sweep) -> ComputeTask:
    """A method's frontier on other splits."""
    return tasks.on_splits(settings, tuple(sweep.models[place].cell for place in frontier_of(sweep)))


def known_spread(settings: Settings, sweeps: Mapping[str, Sweep]) -> dict[str, pd.DataFrame]:
    """Those frontiers on other splits that are there."""
    found = {name: get(on_splits(settings, sweep)) for name, sweep in sweeps.items()}
    return {name: points for name, points in found.items() if points is not None and len(points)}


def begin_spread(settings: Settings, here: Compared, place: Any) -> None:
    """Try the frontiers on other splits, the quick methods first; then the page is drawn anew."""
    missing = [name for name in sorted(here.sweeps, key=cost_of) if name not in here.spread]
    if not n_refits(here.scene, "splits") or not missing:
        return

    def begin(name: str) -> Pending:
        def show_progress(ticket: Ticket) -> None:
            if ticket.progress > 0:
                share = f"{METHODS[name].title}, {10 * int(10 * ticket.progress)} %"
                place.caption(f"Still to come: how far this holds on other splits ({share}).")

        return Pending(submit(on_splits(settings, here.sweeps[name])), lambda _: None, show_progress)

    draw_pending(*(begin(name) for name in missing if frontier_of(here.sweeps[name])))
    if known_spread(settings, here.sweeps).keys() - here.spread.keys():
        st.rerun()


def scene_in_words(settings: Settings) -> str:
    """Data, criterion, f and split in one line."""
    words, criterion = described(settings, "scene"), CRITERIA[settings.fairness].title.lower()
    line = "" if settings.threshold == ONE_HALF else f", cut-off {words['threshold']}"
    return f"{data_in_words(settings)}, {criterion}, f: {words['f'].lower()}{line}, split {settings.seed}"


# ---- the answer, and the trade-off ----


def claims(here: Compared) -> tuple[Claim, ...]:
    """Who changes fewest, by cell."""
    apart = apart_by_chance(here.scene, here.sweeps, here.in_segments)
    return claims_of(here.cells, apart, here.by_split)


def answer(here: Compared, claimed: tuple[Claim, ...], missing: Sequence[str], place: Any) -> None:
    """Who changes fewest at equal fairness and accuracy, and who is most accurate; first, which methods are missing."""
    start, figure = here.of_f[here.criterion.figure_name], here.criterion.figure
    if here.criterion.upward:
        level = 0.8 if start < 0.75 else 0.5 * (1.0 + start)
        fair = f"{here.criterion.noun} of {level:.2f} or more"
    else:
        level = 0.5 * start
        fair = f"{figure.short_in_sentence} of {figure.show(level)} (half of f's) or less"
    found = best_models(here.points[here.sound], here.criterion.name, level)
    free = {name for name in here.sweeps if not METHODS[name].needs_sensitive}
    sentences = [level_in_words(found, fair, with_commod="commod" in free and len(free) > 1)]
    if any(claim.own is not None for claim in claimed):
        sentences.insert(0, wins_in_words(claimed))
    if missing:
        sentences.insert(0, f"**Not final, without {', '.join(METHODS[name].title for name in missing)}.**")
    place.markdown("\n\n".join(sentences))


def level_in_words(found: Mapping[str, BestAndOwn], fair: str, *, with_commod: bool) -> str:
    """Which single models are best at a level of fairness, and, unless they are COMMOD's, how its best one does."""
    says = {"accuracy": "is the most accurate", "change_rate": "changes the fewest decisions"}
    parts, last, behind = [], "", ""
    for name, what in says.items():
        first, own = found[name]
        if first is None:
            return f"Of the methods shown, none reaches {fair} on test without knowing the group."
        shown = FIGURES[name].show(first[name])
        if own is None:
            behind = " No COMMOD model is that fair." if with_commod else ""
        elif with_commod and first["method"] != "commod":
            shown += f"; COMMOD {FIGURES[name].show(own[name])}"
        title = METHODS[first["method"]].title
        parts.append(f"{title * (title != last)} {what} ({shown})".strip())
        last = title
    return f"Of single models with {fair}, {' and '.join(parts)}.{behind}"


def tradeoff(here: Compared, place: Any, *, final: bool = False) -> None:
    """Fairness against changes; once all is there, a click on a COMMOD point chooses it for the match."""

    def choose() -> None:
        picked = st.session_state["methods_chart"]["selection"].get("pick") or []
        if picked and int(picked[0]["id"]) >= 0:
            choose_model(here.sweeps["commod"], int(picked[0]["id"]))

    selection: dict[str, Any] = {"key": "methods_chart", "on_select": choose, "selection_mode": "pick"} if final else {}
    frame, left_out, options = here.tradeoff
    crosses = " Crosses: mean ± sd on other splits, f trained anew." if here.spread else ""
    less = f" Not drawn: {count_of(left_out, 'model')}, far behind or useless." if left_out else ""
    title, columns = "All points as a table", point_columns(here.criterion.name, label="Method", settings="Setting")
    with place.container():
        st.markdown(tip("compare_read"))
        st.html(html_legend(here.styles, narrow=True))  # where names do not fit beside the lines
        draw(
            plot_methods,
            frame,
            alt="Fairness against decisions changed of every model of every method.",
            table=Table(title, "compare_points", columns) if final else title,
            caption=f"{tip('compare_points')}{crosses}{less} {rests_on(here.scene)}",
            **options,
            **selection,
        )


# ---- changes at equal fairness and accuracy ----


def comparisons(here: Compared, claimed: tuple[Claim, ...], place: Any, *, final: bool = False) -> None:
    """Who changes fewest among models of about equal fairness and accuracy, and every method in the same ranges."""
    with place.container():
        if not claimed:
            so_far = "No two" if final else "Not all methods are done. So far, no two"
            st.caption(
                f"{so_far} methods that work without the group have models of about equal fairness and accuracy."
            )
            return
        ranges = {claim.place: here.cuts.in_words(claim.place, here.criterion.name) for claim in claimed}
        cells, spread = here.cells, _spread_in_words(here.by_split)
        cells = cells[[place in ranges for place in zip(cells["fairness_q"], cells["accuracy_q"], strict=True)]]
        _winners(here, claimed, cells, ranges, spread)
        with st.expander("All methods in these comparisons"):
            draw_cells(
                cells,
                [name for name in METHODS if name in set(cells["method"])],
                ranges,
                lambda cell: in_percent(cell["change_rate"]) + ("" if cell["sound"] else NO_MODEL) + spread(cell),
                caption="Mean change rates",
            )
            broken = "" if cells["sound"].all() else tip("no_model", mark=NO_MODEL.strip())
            st.caption(tip("compare_cells", source=here.cuts.source) + broken)


def _winners(
    here: Compared,
    claimed: tuple[Claim, ...],
    cells: pd.DataFrame,
    ranges: Mapping[tuple[int, int], str],
    spread: Callable[[Mapping[Any, Any]], str],
) -> None:
    """Who wins where, against whom, and whether that holds on other people."""
    known = {(cell["method"], cell["fairness_q"], cell["accuracy_q"]): cell for cell in cells.to_dict("records")}

    def changes(method: str, claim: Claim) -> str:
        cell = known[(method, *claim.place)]
        return f"{METHODS[method].short_title}\n{in_percent(cell['change_rate'])}{spread(cell)}"

    rows = []
    for claim in claimed:
        own = "–" if claim.own is None else changes("commod", claim).partition("\n")[2]
        verdict = "–" if claim.own is None else "yes" if claim.beyond_chance else "no"
        if "commod" in claim.fewest:
            verdict = "tie" if len(claim.fewest) > 1 else f"{verdict}\nnext: {changes(claim.against, claim)}"
        fewest = "\n".join(changes(method, claim) for method in claim.fewest)
        rows.append([ranges[claim.place], fewest, own, verdict])
        if here.spread:
            again = "{} of {}".format(*claim.again) if claim.again[1] else "–"
            rows[-1].append(again if here.has_all_spread else "…")
    headings = ["Models with", "Fewest changes", "COMMOD", "Significant?", *["Wins again"] * bool(here.spread)]
    st.html(html_table(headings, rows, caption="Who wins where", text={1, 3}))
    st.caption(tip("wins") + (tip("wins_again") if here.spread else ""))


def _spread_in_words(by_split: pd.DataFrame | None) -> Callable[[Mapping[Any, Any]], str]:
    """What stands behind the change rate of a cell: mean ± sd over other splits, where there are two or more."""
    place = ["method", "fairness_q", "accuracy_q"]
    if by_split is None:
        return lambda cell: ""
    found = by_split.groupby(place)["change_rate"].agg(["mean", "std"]).dropna().to_dict("index")

    def text(cell: Mapping[Any, Any]) -> str:
        row = found.get(tuple(cell[name] for name in place))
        return "" if row is None else f" ({100 * row['mean']:.1f}\u00a0±\u00a0{100 * row['std']:.1f})"

    return text


# ---- take away ----


def downloads(here: Compared, more: Mapping[str, Callable[[], Any]]) -> None:
    """All points as CSV, the charts (those of the match are in `more`) as pictures."""
    settings = here.settings
    name = f"{settings.task_name}_{settings.fairness}_split{settings.seed}"
    charts = {"Trade-off": lambda: plot_methods(here.tradeoff[0], **here.tradeoff[2]), **more}

    def picture(what: str, kind: Any) -> bytes:
        return export_chart(charts[what]().properties(title=f"{what}: {scene_in_words(settings)}"), kind, width=900)

    with st.container(horizontal=True, gap="small"):
        csv = safe_csv(here.points, for_spreadsheets=False)
        offer("Points as CSV", csv, f"{name}.csv", icon=":material/table:")
        for what in charts:
            for kind in ("png", "svg"):
                file = f"{name}_{what.lower().replace(' ', '_')}.{kind}"
                offer(f"{what} as {kind.upper()}", partial(picture, what, kind), file, icon=":material/image:")
    task = load_task(settings.task_name)
    if task.roles:
        offer("Roles of your columns", roles_json(task.roles).encode(), ROLES, icon=":material/data_object:")
    st.caption(f"The same on the command line{f', in a folder with your file and {ROLES}' if task.roles else ''}:")
    st.code(_command(settings, task.command or (settings.task_name,), here.sweeps), language=None, wrap_lines=True)


def _command(settings: Settings, data: Sequence[str], methods: Iterable[str]) -> str:
    """What makes the same points in a shell."""
    scene = {"--fairness": settings.fairness, "--base-model": settings.f, "--seed": str(settings.seed)}
    if settings.threshold != ONE_HALF:
        scene["--threshold"] = f"{settings.threshold:g}"
    asked = [
        word for option in (scene | {"--methods": ",".join(methods), "--out": "points.csv"}).items() for word in option
    ]
    return shlex.join(["python", "-m", "commod", "compare", *data, *asked])
