"""Are models the same to the last digit? ``python -m tests.benchmarks.same_fits --save FILE`` before a change and
``--against FILE`` after it: 54 fits on six data sets, each cold and with a warm start."""

import argparse
import hashlib
import json
import sys
from pathlib import Path

import numpy as np

from commod import Commod
from commod.models import WarmStart
from commod.models.evaluation import judged_elsewhere
from tests.fitting import case

DATA = (
    "law_school",
    "compas",
    "german",
    "hiring",
    "adult",
    "compas.race_sex",
)  # adult's schedule is solved on a sample
STRENGTHS = (1.0, 2.7, 6.5)
# The last one also weighs the rows.
FORMS = (
    {"lambda_ratio": 0.05, "lambda_concepts": 0.01},
    {"lambda_ratio": 0.2, "lambda_concepts": 0.1, "update": "affine", "fairness": "equalized_odds"},
    {"lambda_ratio": 0.01, "lambda_concepts": 0.0, "direction": "improve"},
)


def digest(g, X):
    """Of every number of a model: its coefficients at each point of the path, its loss terms, scores and decisions."""
    path = [(r.intercept, r.coef, r.shift_intercept, r.shift_coef) for r in g.path_rescalers_]
    numbers = [part for point in path for part in point if part is not None]
    numbers += [g.path_, g.history_, g.concepts_, g.concept_weights_, g.shift_concepts_, g.decision_function(X)]
    parts = [np.ascontiguousarray(part, dtype=float).tobytes() for part in numbers] + [g.predict(X).tobytes()]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def fits():
    for name in DATA:
        c = case(name)
        for number, form in enumerate(FORMS):
            warm = WarmStart()
            given = {"sensitive_features": c.train.sensitive}
            if number == len(FORMS) - 1:
                given["sample_weight"] = 1.0 + np.arange(len(c.train)) % 3
            for lambda_fair in STRENGTHS:
                for how, warm_start in (("cold", None), ("warm", warm)):
                    g = Commod(c.f, lambda_fair=lambda_fair, **form)
                    g.fit(c.train.X, c.train.y, **given, warm_start=warm_start)
                    yield f"{name}, form {number}, λ_fair {lambda_fair:g}, {how}", digest(g, c.test.X)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--save", type=Path)
    choice.add_argument("--against", type=Path)
    arguments = parser.parse_args()
    with judged_elsewhere():
        found = dict(fits())
    if arguments.save:
        arguments.save.write_text(json.dumps(found, indent=1))
        sys.exit()
    known = json.loads(arguments.against.read_text())
    different = [fit for fit in sorted(known.keys() | found.keys()) if known.get(fit) != found.get(fit)]
    print(*different, sep="\n")
    print(f"{len(found)} fits, of which {len(different)} differ.")
    sys.exit(bool(different))
