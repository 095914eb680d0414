"""Every marked number in README and docs comes from a command: ``python -m tests.numbers NAME …`` runs and stores it.

A document marks it with ``<!-- numbers: NAME -->…<!-- end -->``. What a command gave is kept in docs/numbers.json, and
written into all documents. Without names, nothing is run: the documents are written from what is stored.
"""

import argparse
import json
import re
from functools import partial
from itertools import pairwise, product

import numpy as np
from scipy.special import expit
from scipy.stats import spearmanr

from commod import Commod, load_task
from commod.datasets.example import MISSED
from commod.experiments import prepare, refit, sweep_method
from commod.experiments.biased import figures_if_missed, scene_in_truth
from commod.experiments.limits import best_within, blind_limits_of, limits_of
from commod.experiments.paper import sensitivity_table
from commod.experiments.results import read_result, results_directory
from commod.experiments.segments import PAPER_SEGMENTS
from commod.experiments.sweep import Cell, fit_cell
from commod.explain.proxies import proxies_of
from commod.metrics.figures import CRITERIA
from commod.models import WarmStart
from commod.models.collapse import judged_elsewhere
from commod.models.competitors import METHODS
from commod.models.settings import UPDATES
from commod.models.threads import single_threaded
from tests.benchmarks import checks, minima, protocols, watch
from tests.benchmarks.forms import share_beaten
from tests.browsing import ROOT
from tests.fitting import case, fit
from tests.random_starts import lowest_loss

STORED = ROOT / "docs" / "numbers.json"
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MARKED = re.compile(r"(<!-- numbers: ([a-z_0-9]+) -->)(.*?)(<!-- end -->)", re.DOTALL)


def watched():
    """The tables of `python -m tests.benchmarks.watch`."""
    shown = [[name, *(f"{share:.1%}" for share in row)] for name, row in watch.table(100, 2000).items()]
    heading = ["", "false alarms in a year", "found, from night 1", "found, after half a year", "best single look"]
    return block([heading, *shown])


def smooth_steps():
    """How smoothly decisions follow λ_fair from 0 to 6 in steps of 0.1, person by person."""
    found = []
    for name, splits in minima.SPLITS.items():
        for fairness in minima.CRITERIA:
            found += [minima.smooth(name, fairness, seed)[3:] for seed in range(splits)]
    least, most = min(rho for rho, _ in found), max(step for _, step in found)
    return f"Spearman's ρ is at least {least:.3f}, and one step changes up to {most:.1%} of the test people's decisions"


def other_splits():
    """The P-Rule of the models that the app opens with, on ten other splits and on the one that is shown."""
    told = []
    for name in ("law_school", "compas"):
        settings = load_task(name).spec.commod_settings
        cell = Cell("commod", settings["lambda_fair"])
        scene = prepare(name)
        shown = scene.figures(fit_cell(scene, cell, "demographic_parity").decisions_test)["p_rule"]
        mean, sd = refit(scene, cell, "demographic_parity", drawn="splits").spread.loc["p_rule"]
        told.append(f"P-Rule {mean:.2f} ± {sd:.2f} on {name} (split 0: {shown:.2f})")
    return ", ".join(told)


def biased_record():
    """What is mended on the ratings, beside the truth."""
    scene = prepare("ratings")
    settings = load_task("ratings").spec.commod_settings
    cell = Cell("commod", settings["lambda_fair"], (("update", settings["update"]),))
    after, truth = fit_cell(scene, cell, "demographic_parity").decisions_test, scene_in_truth(scene)
    found = [figures_if_missed(here, after, m) for here, m in ((scene, 0.0), (scene, MISSED), (truth, 0.0))]
    right, accuracy = ([f"{each[name]:.1%}" for each in found] for name in ("right", "accuracy"))
    return (
        f"of g's changes {right[0]} are right by the record, {right[1]} if it misses {MISSED:.0%}, and {right[2]} in "
        f"truth; its accuracy is {accuracy[0]}, {accuracy[1]} and {accuracy[2]}"
    )


def smooth_decisions():
    """How smoothly decisions follow λ_fair from 0 to 10 in steps of 0.1 with ``update="decisions"``, three splits."""
    setting = {"lambda_concepts": 0.05, "update": "decisions"}
    values, told, least = np.arange(0, 10.01, 0.1), [], 1.0
    for fairness in minima.CRITERIA:
        most = {"train": 0.0, "test": 0.0}
        for name, seed in product(("law_school", "compas"), range(3)):
            c, warm_start = case(name, seed), WarmStart()
            path = [fit(c, lambda_fair=float(at), **setting, fairness=fairness, warm_start=warm_start) for at in values]
            for part in most:
                decided = [g.predict(getattr(c, part).X) for g in path]
                most[part] = max(most[part], *(float(np.mean(a != b)) for a, b in pairwise(decided)))
            for figure in (CRITERIA[fairness].figure_name, "change_rate"):
                along = [g.path_[figure].iloc[-1] for g in path]
                least = min(least, abs(spearmanr(values, along).statistic))
        told.append(f"{most['train']:.1%} of the training decisions ({most['test']:.1%} on test)")
    both = f"{told[0]} under demographic parity,\nand {told[1]} under equalized odds"
    return f"at most {both}; Spearman's ρ is at least {least:.3f}"


def group_guesses():
    """How well the best concept of each form tells the groups apart, where the data set opens, split 0."""
    rows = [["", *UPDATES]]
    for name in ("law_school", "compas", "german", "adult"):
        scene = prepare(name)
        groups = scene.train.sensitive.to_numpy(), scene.test.sensitive.to_numpy()
        row = [name]
        for update in UPDATES:
            g = Commod(scene.f, **scene.task.spec.commod_settings | {"update": update})
            with judged_elsewhere():
                g.fit(**scene.train.fit_arguments, base_scores=scene.scores_train)
            parts = scene.encoded_train, scene.encoded_test
            tells = proxies_of(*map(g.activations_of, parts), *groups)
            best = tells.loc[tells["auc"].idxmax()] if len(tells) else None
            row.append("no change" if best is None else f"{best['auc']:.2f} [{best['low']:.2f}, {best['high']:.2f}]")
        rows.append(row)
    return block(rows)


def small_lambda():
    """What λ_fair = 0.001 moves, over ten splits at the app's first settings."""
    told = []
    for name in ("law_school", "compas"):
        means, most, changed = [], [], []
        for seed in range(10):
            c = case(name, seed)
            g = fit(c, **c.task.spec.commod_settings | {"lambda_fair": 0.001})
            f = c.f.predict_proba(c.test.X)[:, 1]
            moved = np.abs(expit(g.decision_function(c.test.X)) - f)
            means.append(moved.mean()), most.append(moved.max())
            changed.append(int((g.predict(c.test.X) != c.f.predict(c.test.X)).sum()))
        told.append(
            f"on {name} by {100 * min(means):.1f} to {100 * max(means):.1f} points on average and up to "
            f"{100 * max(most):.0f}, and at most {max(changed)} of {len(c.test.y):,} decisions change"
        )
    return ";\n".join(told)


def repeated_rows():
    """How far a fit with whole numbers as weights is from one on repeated rows, on three splits each."""
    told = []
    for name in ("law_school", "compas"):
        apart, other = 0.0, 0
        for seed in range(3):
            c, settings = case(name, seed), {"solver_options": {"tol": 1e-14}}
            times = np.random.default_rng(seed).integers(1, 4, len(c.train.X))
            rows = c.train.take(np.repeat(np.arange(len(times)), times))
            g = [Commod(c.f, **c.task.spec.commod_settings, **settings) for _ in range(2)]
            g[0].fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive, sample_weight=times)
            g[1].fit(rows.X, rows.y, sensitive_features=rows.sensitive)
            apart = max(apart, float(np.abs(g[0].coef_ - g[1].coef_).max()))
            other = max(other, int((g[0].predict(c.test.X) != g[1].predict(c.test.X)).sum()))
        told.append(f"{apart:.0e} in a weight and {other} of {len(c.test.y):,} decisions on {name}")
    return ", ".join(told)


def affine_minima():
    """How often one of 12 random starts of the affine form ends lower than the solver, on law_school."""
    lower = []
    for fairness, lam, seed in product(minima.CRITERIA, (2.0, 4.0, 8.0), (0, 1)):
        c = case("law_school", seed)
        g = fit(c, lambda_fair=lam, fairness=fairness, update="affine")
        with single_threaded():
            lower.append(g.path_["objective"].iloc[-1] - lowest_loss(c, g, 12))
    beaten = [each for each in lower if each > minima.WITHIN]
    return f"in {len(beaten)} of {len(lower)} cases one of 12 random starts was lower" + (
        f", by up to {max(beaten):.0e}" if beaten else ""
    )


def blind_learners():
    """What rules that are not told the group can expect, by who learns P(S | x), beside COMMOD's best model."""
    heading = [
        "",
        "changed",
        "exact limit, group known",
        "not told the group",
        "over people and two learners",
        "COMMOD",
    ]
    rows = [[*heading, "the rule behind the curve, counted"]]
    for name in ("law_school", "compas"):
        scene = prepare(name)
        curve, exact = blind_limits_of(scene, "demographic_parity"), limits_of(scene, "demographic_parity")
        points = sweep_method(scene, "commod", "demographic_parity").points
        for share in (0.05, 0.1):
            at = {column: f"{np.interp(share, curve['change_rate'], curve[column]):.3f}" for column in curve}
            commod = best_within(points, "demographic_parity", share)["p_rule"]
            shown = [at["fairness"], f"{at['low']} to {at['high']}", f"{commod:.3f}", at["counted"]]
            rows.append([name, f"{share:.0%}", f"{exact.at(share):.3f}", *shown])
    return block(rows)


def checks_of_methods():
    """The table of `python -m tests.benchmarks.checks`."""
    arguments = checks.parser().parse_args([])
    levels = (part.split("=") for part in arguments.levels.split(","))
    rows = [row for data, level in levels for row in checks.rows_of(data, float(level), arguments)]
    return block([checks.headings(arguments), *rows])


def _table1():
    models, _ = read_result(results_directory() / "table1.parquet")
    return models[models["error"] == ""].rename(columns={"method": "name"})


def _beaten(data, fairness):
    """Models of COMMOD that the Bayes rule beats, and the other way round."""
    models = _table1()
    part = models[(models["dataset"] == data) & (models["fairness"] == fairness)]
    both = (("commod", "bayes"), ("bayes", "commod"))
    return [share_beaten(part, *names, fairness).split(" (")[0] for names in both]


def beaten_by_bayes():
    """On law_school, under demographic parity."""
    own, other = _beaten("law_school", "demographic_parity")
    return f"beats {own} of COMMOD's models in fairness, accuracy and changes at once (COMMOD {other} of its)"


def beaten_everywhere():
    """On both data sets, under both criteria."""
    heading = ["", "COMMOD's models beaten by the Bayes rule's", "the Bayes rule's models beaten by COMMOD's"]
    places = product(("law_school", "compas"), minima.CRITERIA)
    return block([heading, *([f"{data}, {each.replace('_', ' ')}", *_beaten(data, each)] for data, each in places)])


def fairest_quarter():
    """Models of each method in the fairest quarter of Table 1 on law_school, under equalized odds."""
    models, criterion = _table1(), "equalized_odds"
    part = models[(models["dataset"] == "law_school") & (models["fairness"] == criterion)]
    (segments,) = PAPER_SEGMENTS["law_school", criterion]
    there = (part["dm"] <= segments.fairness[-1]).groupby(part["name"])
    reach, total = there.sum(), there.size()["commod"]
    rest = [name for name in reach.sort_values(ascending=False).index if name not in ("commod", "oracle_lpp")]
    others = ", ".join(f"{METHODS[name].title} {reach[name]}" for name in rest)
    return f"{reach['commod']} of COMMOD's {total} models reach the fairest quarter ({others})"


def r_squared():
    """Of the paper's three regressions, where ours act."""
    models, _ = read_result(results_directory() / "sensitivity.parquet")
    table = sensitivity_table(models)
    found = table[table["range"] == "where ours act"].groupby("dataset")["r_squared"].agg(["min", "max"])
    told = (
        f"{found.loc[name, 'min']:.2f} to {found.loc[name, 'max']:.2f} on {name}" for name in ("law_school", "compas")
    )
    return " and ".join(told)


def under_protocol(key):
    """A table of `python -m tests.benchmarks.protocols`."""
    points = protocols.points_of(key)
    return f"\n{protocols.caption(key, points)}\n{block(protocols.table(key, points))}"


def block(rows):
    """A Markdown table on lines of its own."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(["", lines[0], "|" + "---|" * len(rows[0]), *lines[1:], ""])


NUMBERS = {
    each.__name__: each
    for each in (
        affine_minima,
        watched,
        other_splits,
        biased_record,
        smooth_steps,
        smooth_decisions,
        group_guesses,
        small_lambda,
        repeated_rows,
        blind_learners,
        checks_of_methods,
        beaten_by_bayes,
        beaten_everywhere,
        fairest_quarter,
        r_squared,
    )
} | {key: partial(under_protocol, key) for key in protocols.PROTOCOLS}


def filled(text, stored):
    """A document with what is stored between its marks."""
    return MARKED.sub(lambda found: found[1] + stored[found[2]] + found[4], text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*NUMBERS, []], help="what to run and store")
    for name in parser.parse_args().names:
        found = NUMBERS[name]()
        print(f"{name}: {found}", flush=True)
        stored = json.loads(STORED.read_text()) | {name: found}  # another run may have stored something meanwhile
        STORED.write_text(json.dumps(dict(sorted(stored.items())), indent=1, ensure_ascii=False) + "\n")
    stored = json.loads(STORED.read_text())
    for path in DOCUMENTS:
        path.write_text(filled(path.read_text(), stored))


if __name__ == "__main__":
    main()
