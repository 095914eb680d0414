"""The files of a later look: a model, a batch, and what is required; whoever has sent them."""

from typing import Any

import numpy as np

from commod.decisions import Requirements, read_record, requirements_in
from commod.decisions.record import MAX_BYTES
from commod.monitoring.reference import cells_in, read_model, reference_in
from commod.monitoring.watch import Watched, watch
from commod.uploads.json_file import read_json
from commod.uploads.limits import short
from commod.uploads.reading import read_table


def about_model(content: bytes) -> dict[str, Any]:
    """What the file of a model says of itself, as plain data.

    Returns
    -------
    dict
        ``columns`` (needed), ``groups`` (columns that say who is who), ``label, weight`` (columns; empty if there is
        none), ``people`` (tested on), ``needs_scores`` (whether f is not in it) and ``about`` (texts).

    Raises
    ------
    ValueError
        In one sentence, if it is no model, or says nothing of the people it was tested on.
    """
    model = read_model(content)
    reference = reference_in(model)
    about = model.content.get("about")
    texts = about.items() if isinstance(about, dict) else ()
    return {
        "columns": list(model.columns),
        "groups": [attribute["column"] for attribute in reference["attributes"]],
        "label": reference["label"]["column"],
        "weight": reference.get("weight", ""),
        "people": int(cells_in(reference).rows.sum()),
        "needs_scores": model.needs_scores,
        "about": {short(name): short(text, 200) for name, text in texts},
    }


def watch_files(model: bytes, batch: bytes, *, scores: str = "") -> Watched:
    """`watch` on a `model.json` and a table.

    Parameters
    ----------
    model, batch : bytes
        The whole files.
    scores : str
        Column of the batch that holds f's probabilities, where f is not in the model's file.

    Raises
    ------
    ValueError
        In one sentence, whatever is wrong with one of them.
    """
    read = read_model(model)
    table = read_table(batch).frame
    if read.needs_scores and not scores:
        raise ValueError("f is not in this model.json: give its scores as a column of the batch, named by --scores.")
    if scores and scores not in table:
        raise ValueError(f"The batch has no column “{short(scores)}”, which should hold the scores of f: name another.")
    given = np.asarray(table[scores]) if scores else None
    if given is not None and (given.dtype.kind not in "fiu" or not ((given >= 0) & (given <= 1)).all()):
        raise ValueError(f"“{short(scores)}” must hold f's probabilities: between 0 and 1, without gaps.")
    try:
        return watch(read, table, base_scores=given)
    except (ArithmeticError, LookupError, TypeError, AttributeError):  # a file that fits together nowhere
        raise ValueError("The model's file and the batch do not fit together: download the model again.") from None


def read_requirements(content: bytes) -> tuple[Requirements, dict[str, Any] | None]:
    """Requirements from a file, and the sealed decision that they stand in, if it is one.

    Raises
    ------
    ValueError
        In one sentence, if it is neither, or the decision was changed since it was sealed.
    """
    found = read_json(content, "a decision, or requirements", MAX_BYTES)
    if "format" not in found:
        return Requirements.from_plain(found), None
    record = read_record(content)
    return requirements_in(record), record
