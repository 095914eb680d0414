"""Paper: Table 1 recomputed from committed results, the printed numbers next to ours, and what does not come out."""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import Any

import pandas as pd
import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.text.glossary import tip, with_tooltips
from commod.dashboard.text.html import html_table
from commod.dashboard.views import frame
from commod.dashboard.views.methods import label_of
from commod.dashboard.views.points import draw_cells
from commod.datasets import TASKS
from commod.experiments.paper import DATASETS, LEAST_SPLITS, TABLE1_ROWS, sensitivity_table, table1
from commod.experiments.paper_numbers import METHOD_ROWS, TABLE1_CELLS
from commod.experiments.results import read_result, results_directory
from commod.experiments.segments import PAPER_SEGMENTS, in_segments, mark_fewest
from commod.experiments.winners import Claim, Place, claims_of, wins_in_words
from commod.metrics.figures import CRITERIA
from commod.models.competitors import METHODS

CASES = tuple(product(DATASETS, CRITERIA))
MARKS = {"better": "\u00a0▼", "equal": "\u00a0=", "worse": "\u00a0▲", "too few splits": ""}
# Behind a method that the paper's Table 1 does not have; † has another meaning in the names of methods.
ADDED = " *"
Claims = Mapping[tuple[str, str], tuple[Claim, ...]]


@lru_cache(maxsize=8)
def _read(name: str) -> pd.DataFrame:
    """A committed result."""
    return read_result(results_directory() / f"{name}.parquet")[0]


@lru_cache(maxsize=len(CASES))
def _cells(data: str, criterion: str) -> pd.DataFrame:
    """Change rates by method in the cells that the paper prints, or in all where it prints none."""
    models = _read("table1")
    if data not in set(models["dataset"]):
        title = TASKS[data].title
        raise ValueError(f"table1.parquet was made without {title}: make it with 'python -m commod paper table1'.")
    cells = mark_fewest(table1(models, data, criterion, PAPER_SEGMENTS[data, criterion][0]))
    if cells["printed"].isna().all():
        return cells
    places = zip(cells["fairness_q"], cells["accuracy_q"], strict=True)
    return cells[[place in TABLE1_CELLS for place in places]]


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/paper.py")
    st.title("The paper, recomputed")
    try:
        claims = {case: claims_of(_cells(*case)) for case in CASES}
        failures = _failures(claims)
    except ValueError as error:
        st.warning(str(error), icon=":material/warning:")
        return
    st.markdown(f"{wins_in_words(sum(claims.values(), ()))} {_agreement()}")
    st.html(with_tooltips([tip("paper_intro", splits=_read("table1")["split"].nunique())]))
    st.header("Table 1: changes at equal fairness and accuracy")
    data, criterion = _choose()
    _draw_table(data, criterion, claims[data, criterion])
    st.header("What we could not confirm")
    st.markdown(failures)
    st.caption(tip("paper_more"))


def _agreement() -> str:
    """How COMMOD's change rates compare with the printed ones."""
    every = pd.concat([_cells(*case) for case in CASES])
    printed = every.loc[(every["method"] == "commod") & every["printed"].notna(), "verdict"]
    said = Counter(printed)
    few = f"; {said['too few splits']} have too few splits to tell" if said["too few splits"] else ""
    return (
        f"The paper prints COMMOD's share of changes for {len(printed)} cells: ours agrees in "
        f"**{said['equal']}**, is lower in **{said['better']}** and higher in **{said['worse']}**{few}."
    )


def _choose() -> tuple[str, str]:
    """Data set and criterion of the table: from the link, or those of the session if the paper has them."""
    here = session.current()
    asked = st.query_params.get("paper", "").split(",")
    starts = {"paper_data": (here.data, DATASETS, asked[0]), "paper_criterion": (here.fairness, CRITERIA, asked[-1])}
    for key, (usual, known, wanted) in starts.items():
        if key not in st.session_state:
            st.session_state[key] = wanted if wanted in known else usual if usual in known else next(iter(known))
    left, right = st.columns(2, gap="medium")
    data = left.selectbox("Data set", DATASETS, format_func=lambda name: TASKS[name].title, key="paper_data")
    criterion = right.selectbox(
        "Criterion", list(CRITERIA), format_func=lambda name: CRITERIA[name].label, key="paper_criterion"
    )
    session.keep_link(paper=f"{data},{criterion}")
    return data, criterion


def _draw_table(data: str, criterion: str, claims: tuple[Claim, ...]) -> None:
    """COMMOD, its printed number and the best other method in each cell; every method below."""
    cells = _cells(data, criterion)
    is_printed = bool(cells["printed"].notna().any())
    places = list(TABLE1_CELLS) if is_printed else [claim.place for claim in claims]
    blind = cells[cells["blind"]].sort_values("change_rate")
    rows, marked = [], set()
    for i, place in enumerate(places):
        here = blind[(blind["fairness_q"] == place[0]) & (blind["accuracy_q"] == place[1])]
        own, other = (next(iter(each.to_dict("records")), None) for each in _own_and_others(here))
        printed = [_printed(own) if own else "–"] if is_printed else []
        best = f"{METHODS[other['method']].title}\n{_ours(other)}" if other else "–"
        rows.append([_name_of(place, data, criterion), _ours(own) if own else "–", *printed, best])
        ends = ((own, 1), (other, 2 + is_printed))
        marked |= {(i, j) for cell, j in ends if cell and cell["fewest"]}
    headings = ["Fairness and accuracy", "COMMOD, ours", *["COMMOD, paper"] * is_printed, "Best other, ours"]
    st.html(html_table(headings, rows, caption="COMMOD and the best other method in each cell", marked=marked))
    how = tip("table1_how", splits=_read("table1")["split"].nunique(), least=LEAST_SPLITS)
    st.caption(f"{how} {tip('table1_printed')}" if is_printed else how)
    with st.expander("Every method, and what each does"):
        draw_cells(
            cells,
            [name for name in TABLE1_ROWS if name in set(cells["method"])],
            {place: "Fairness Q{}, accuracy Q{}".format(*place) for place in places},
            lambda cell: f"{_ours(cell)}\n{'paper ' * pd.notna(cell['printed'])}{_printed(cell)}".strip(),
            caption="Change rates",
            label=lambda name: label_of(name) + ("" if name in METHOD_ROWS else ADDED),
        )
        st.caption(tip("table1_cells", added=ADDED.strip()))
        st.markdown(tip("methods_told"))


def _own_and_others(cells: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    is_own = cells["method"] == "commod"
    return cells[is_own], cells[~is_own]


def _name_of(place: Place, data: str, criterion: str) -> str:
    return PAPER_SEGMENTS[data, criterion][0].in_words(place, criterion)


def _ours(cell: Mapping[Any, Any]) -> str:
    """Our change rate, with its interval where there are splits enough."""
    if cell["splits"] < LEAST_SPLITS:
        return f"{cell['change_rate']:.1%}"
    return f"{cell['change_rate']:.1%}\n[{cell['low']:.1%}, {cell['high']:.1%}]"


def _printed(cell: Mapping[Any, Any]) -> str:
    return f"{cell['printed']:.0%}{MARKS[cell['verdict']]}" if pd.notna(cell["printed"]) else ""


def _failures(claims: Claims) -> str:
    """What the paper finds and we do not, and where others do better."""
    lines = []
    for (data, criterion), found in claims.items():
        lost = [claim for claim in found if "commod" not in claim.fewest]
        cuts, figure = PAPER_SEGMENTS[data, criterion][0], CRITERIA[criterion].figure
        where = ", ".join(cuts.fairness_range(q, criterion) for q in sorted({claim.place[0] for claim in lost}))
        if lost:
            lines.append(
                f"**{TASKS[data].title}, {CRITERIA[criterion].title.lower()}:** others change fewer decisions in "
                f"{len(lost)} of {len(found)} cells ({figure.short_in_sentence} {where})."
            )
    models, (data, criterion) = _read("table1"), ("law_school", "equalized_odds")
    cuts = PAPER_SEGMENTS[data, criterion][0]
    here = in_segments(models[(models["dataset"] == data) & (models["fairness"] == criterion)], cuts, criterion)
    fairest = (here["fairness_q"] == 4).groupby(here["method"]).sum()
    others = fairest[[name for name in fairest.index if not METHODS[name].needs_sensitive]].drop("commod")
    lines.append(
        f"**Very fair models:** on {TASKS[data].title} under equalized odds, {fairest['commod']} of "
        f"{(here['method'] == 'commod').sum()} COMMOD models reach the fairest quarter; "
        f"{others.max()} of {METHODS[str(others.idxmax())].title}'s do."
    )
    fits = sensitivity_table(_read("sensitivity"))
    fits = fits[fits["range"] == "where ours act"]
    lines.append(
        f"**The regressions:** f's figures and the weights explain {fits['r_squared'].min():.0%} to "
        f"{fits['r_squared'].max():.0%} of how g's figures vary (R²); the paper prints {fits['printed'].min():.0%} to "
        f"{fits['printed'].max():.0%}. Our λ_fair also has another scale. We do not know why."
    )
    moves = _read("figure9").drop_duplicates("method").set_index("method")["score_move"]
    lines.append(
        "**Scores that stay:** the paper says that COMMOD moves the scores of unchanged people less than AdvDebias. "
        f"Ours moves them by {100 * moves['commod']:.1f} percentage points, AdvDebias by "
        f"{100 * moves['adv_debias']:.1f}."
    )
    return "\n".join(f"- {line}" for line in lines)
