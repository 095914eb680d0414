"""The predictions and the model card that one takes home, and the names of files, without Streamlit."""

import re

import numpy as np
import pandas as pd

from commod import __version__
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.pages.take_home.report_figures import figure_rows, widened
from commod.dashboard.state.settings import in_words
from commod.dashboard.text.escape import safe_csv
from commod.dashboard.text.html import document
from commod.datasets import is_shipped
from commod.experiments.refits import Refits
from commod.metrics.figures import key_figures


def file_name(result: FitResult, what: str, ending: str) -> str:
    """Name of a file that is safe anywhere: letters, digits and underscores."""
    name = result.settings.task_name if is_shipped(result.settings.task_name) else result.task.spec.title
    data = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:40] or "data"
    return f"commod_{data}_{what}.{ending}"


def predictions_csv(result: FitResult, refits: Refits | None) -> bytes:
    """The test rows: who they are, what f and g say, and how often it would happen again.

    Columns ``number`` (in the test part, as on the pages), ``row`` (of the data set), ``line`` (of an uploaded file
    that has its headings in line 1 and no empty lines), ``group, change`` (in words; empty where the decision stays),
    ``label, f_score, r, g_score, f_decision, g_decision, changed, right_by_record`` (whether g's decision is the label;
    with a shift, ``s`` follows ``r``, and where a balance decides, ``balance`` stands in their place), ``f_certainty``
    (the probability that f gives to its decision) and ``refits_that_change`` (share; only with refits), all to six
    decimals; labels, decisions, ``changed`` and ``right_by_record`` are 0 or 1.
    """
    scene = result.scene
    test, g = scene.test, result.g
    no, yes = result.task.spec.outcomes
    words = np.where(result.decisions == 1, f"from “{no}” to “{yes}”", f"from “{yes}” to “{no}”")
    sums = {"r": result.ratio_test, **({"s": result.shift_test} if g.has_shift else {})}
    if g.decides:
        sums = {"balance": g.rescaler_.balance(scene.encoded_test, scene.logit_test)}
    frame = pd.DataFrame(
        {
            "number": np.arange(len(test)),
            "row": test.X.index,
            **({"line": test.X.index + 2} if result.task.roles else {}),
            "group": np.array(result.task.groups, dtype=object)[test.sensitive.to_numpy()],
            "change": np.where(result.changed_test, words, ""),
            "label": test.y.to_numpy(),
            "f_score": scene.scores_test,
            **sums,
            "g_score": result.scores,
            "f_decision": scene.decisions_test,
            "g_decision": result.decisions,
            "changed": (scene.decisions_test != result.decisions).astype(int),
            "right_by_record": (result.decisions == test.y.to_numpy()).astype(int),
            "f_certainty": scene.certainty_test,
        }
    )
    if refits is not None:
        frame["refits_that_change"] = refits.share
    return safe_csv(frame.round(6), for_spreadsheets=False)


def model_card(result: FitResult, code: str, date: str) -> str:
    """A card of one fit in Markdown, with the metadata that model hubs read; its words are in ``card.md``."""
    values = result.figures["g"]
    return document(
        "card.md",
        result=result,
        code=code,
        date=date,
        version=__version__,
        setting=in_words(result.settings),
        model_file=file_name(result, "model", "json"),
        metrics=[(figure, float(values[figure.name])) for figure in key_figures() if figure.name in values],
        figures=[[" ".join(cell.split()) for cell in row] for row in figure_rows(result)],
        widened=widened(result),
    )
