"""Every marked number in README and docs comes from a command: ``python -m tests.numbers NAME …`` runs and stores it.

A document marks it with ``<!-- numbers: NAME -->…<!-- end -->``. What a command gave is kept in docs/numbers.json, and
written into all documents. Without names, nothing is run: the documents are written from what is stored.
"""

import argparse
import json
import re
from functools import partial
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.special import expit
from scipy.stats import spearmanr

from commod import Commod, load_task
from commod.experiments import prepare, refit, sweep_method
from commod.experiments.biased import figures_if_missed, scene_in_truth
from commod.experiments.limits import best_within, blind_limits_of, interventions_of, limits_of
from commod.experiments.paper import sensitivity_table
from commod.experiments.results import read_result, results_directory
from commod.experiments.segments import PAPER_SEGMENTS
from commod.experiments.sweep import Cell, fit_cell
from commod.explain.groups import proxies_of
from commod.metrics.figures import CRITERIA
from commod.models import WarmStart
from commod.models.competitors import METHODS
from commod.models.evaluation import judged_elsewhere
from commod.models.threads import single_threaded
from commod.models.validation import UPDATES
from data.invented import MISSED
from tests.benchmarks import checks, coverage, forms, line, minima, protocols, starts, target, tree_update, tuned
from tests.benchmarks.forms import share_beaten
from tests.fitting import case, fit
from tests.random_starts import lowest_loss

# Not from `tests.browsing`: a machine without a browser can compute numbers, too.
ROOT = Path(__file__).parents[1]
STORED = ROOT / "docs" / "numbers.json"
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MARKED = re.compile(r"(<!-- numbers: ([a-z_0-9]+) -->)(.*?)(<!-- end -->)", re.DOTALL)


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
    """How smoothly decisions follow λ_fair from 0 to 10 in steps of 0.1 with ``update="decisions"``."""
    places = list(product(minima.CRITERIA, ("law_school", "compas"), range(5), (0.0, 0.05, 0.2)))
    found = pd.DataFrame(Parallel(n_jobs=-1)(delayed(_smooth_path)(*place) for place in places))
    rows = [
        ["", "λ_ratio", "training people", "test people", "paths with a step over 3% on test", "Spearman's ρ at least"]
    ]
    for (data, fairness, ratio), part in found.groupby(["data", "fairness", "ratio"], sort=False):
        over = f"{(part['test'] > 0.03).sum()} of {len(part)}"
        most = (f"{part[name].max():.1%}" for name in ("train", "test"))
        rows.append([f"{data}, {CRITERIA[fairness].short}", f"{ratio:g}", *most, over, f"{part['rho'].min():.3f}"])
    return block(rows)


def _smooth_path(fairness, name, seed, ratio):
    """The largest share of people whom one step decides otherwise, and the least Spearman's ρ."""
    c, warm_start, values = case(name, seed), WarmStart(), np.round(np.arange(0, 10.01, 0.1), 1)
    given = {"lambda_ratio": ratio, "lambda_concepts": 0.05, "update": "decisions", "fairness": fairness}
    with single_threaded():
        path = [fit(c, lambda_fair=float(at), **given, warm_start=warm_start) for at in values]
    row = {"data": name, "fairness": fairness, "ratio": ratio}
    for part in ("train", "test"):
        decided = [g.predict(getattr(c, part).X) for g in path]
        row[part] = max(float(np.mean(a != b)) for a, b in pairwise(decided))
    figures = (CRITERIA[fairness].figure_name, "change_rate")
    along = ([g.path_[figure].iloc[-1] for g in path] for figure in figures)
    return row | {"rho": min(abs(spearmanr(values, each).statistic) for each in along)}


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


def _tuned():
    return read_result(tuned.STORED)[0]


def tuned_parity():
    """Settings chosen on folds, under demographic parity."""
    return block(listed(tuned.way(_tuned(), "demographic_parity")))


def tuned_odds():
    """The same under equalized odds."""
    return block(listed(tuned.way(_tuned(), "equalized_odds")))


def tuned_within():
    """The fairest that changes at most 10 % on folds."""
    return block(listed(pd.concat([tuned.within(_tuned(), fairness) for fairness in CRITERIA])))


def tuned_sure():
    """What the record and f say of the changes of those that go half of the way."""
    return block(listed(tuned.sure(_tuned())))


def tuned_beaten():
    """Models beaten by those that count decisions, and these by others."""
    return block(listed(tuned.beaten(_tuned())))


def tuned_strengths():
    """Which strength of its regulariser each method gets from folds."""
    return block(listed(tuned.strengths(_tuned())))


def opened():
    """The table of `python -m tests.benchmarks.starts`."""
    return block([starts.HEADINGS, *starts.table_of()])


def nobody_loses():
    """The first table of `python -m tests.benchmarks.forms`, for the paper's form, the affine one, and limited ones."""
    names = [f"{form}{limit}" for form in ("ratio", "affine") for limit in ("", ", nobody loses")]
    splits = {"law_school": 5, "compas": 5, "adult": 3}
    places = [(*each, seed) for each in product(splits, CRITERIA, names) for seed in range(splits[each[0]])]
    points = pd.concat(Parallel(n_jobs=-1)(delayed(_swept)(*place) for place in places), ignore_index=True)
    table = forms.matched(points)
    rows = [["", *names]]
    for (data, short), part in table.groupby(["data", "fairness"], sort=False):
        row = [f"{data}, {short}"]
        for here in part.to_dict("records"):
            n, of = here["splits"].split(" of ")
            told = f"{float(here['accuracy']):.1%}, {float(here['changed']):.1%}, {here['f was sure']}"
            row.append("none" if n == "0" else told + ("" if n == of else f" ({n} of {of})"))
        rows.append(row)
    return block(rows)


def _swept(data, fairness, name, seed):
    with single_threaded():
        found = forms.models_of(prepare(data, seed=seed), name, fairness)
    return found.assign(data=data, fairness=fairness, name=name, split=seed)


def later_rivals(fairness):
    """COMMOD beside MBS and OxonFair on five splits: fewest changes at a share of the way, and models beaten."""
    names, splits = ("ratio", "decisions", "lpp", "bayes", "mbs", "oxonfair"), range(5)
    places = product(("law_school", "compas"), [fairness], names, splits)
    points = pd.concat(Parallel(n_jobs=-1)(delayed(_swept)(*place) for place in places), ignore_index=True)
    shares = ("50% of the way", "75% of the way")
    found = forms.fewest(points).set_index(["name", "data"])
    columns = list(product(("law_school", "compas"), shares))
    rows = [["", *(f"{data} {share.split()[0]}" for data, share in columns)]]
    rows += [[name, *(found.loc[(name, data), share] for data, share in columns)] for name in map(forms.title, names)]
    against = [["", *(f"{data}: {whose}" for data, whose in product(("law_school", "compas"), ("its own", "MBS's")))]]
    for name in names[:2]:
        row = [forms.title(name)]
        for data in ("law_school", "compas"):
            part = points[points["data"] == data]
            row += [share_beaten(part, *pair, fairness).split(" (")[0] for pair in ((name, "mbs"), ("mbs", name))]
        against.append(row)
    return f"{block(rows)}\nModels beaten, of a form by MBS and of MBS by it:\n{block(against)}"


def cut_offs():
    """At cut-offs far from one half: `python -m tests.benchmarks.line`."""
    rows = [["", "λ_fair 0.1", "λ_fair 3"]]
    for data, threshold, update in product(("law_school", "compas"), (0.8, 0.3), ("ratio", "affine")):
        here = case(data)
        row = [line.told(here, threshold, update, lambda_fair) for lambda_fair in (0.1, 3.0)]
        rows.append([f"{data}, c = {threshold}, {update}", *row])
    return block(rows)


def interventions():
    """The fewest changes that make the groups exactly equal, the group known, on split 0."""
    names = ("law_school", "compas", "german")
    found = [interventions_of(prepare(name)) for name in names]
    rows = [["", *names]]
    for place, demands in enumerate(found[0]["demands"]):
        shares = [each["change_rate"].iloc[place] for each in found]
        words = " and ".join(each.replace("_", " ") for each in demands)
        rows.append([words, *("none" if np.isnan(share) else f"{share:.1%}" for share in shares)])
    return block(rows)


def tree_kept():
    """A budget on the training rows, the linear rule beside a tree: `python -m tests.benchmarks.tree_update`."""
    rows = [["", "budget", "f", "linear", "tree of depth 2", "tree of depth 3"]]
    for data, most in product(("law_school", "compas"), (0.1, 0.09)):
        row = [data, f"{most:.0%}"]
        for fair, changed, accuracy in tree_update.means(data, 5, most).values():
            row.append(f"{fair:.3f}, {changed:.1%}, {accuracy:.3f}")
        rows.append(row)
    return block(rows)


def minima_found():
    """How often the solver ends as low as the best of 20 random starts."""
    cells = minima.all_cells()
    of_data = [f"{sum(c[4] <= minima.WITHIN for c in part)} of {len(part)} on {name}" for name, part in cells.items()]
    every = [c for part in cells.values() for c in part]
    return f"in {sum(c[4] <= minima.WITHIN for c in every)} of {len(every)} cells ({', '.join(of_data)})"


def targets_held():
    """Whether what `find_settings` promises holds on test, over 20 splits."""
    frame = target.held(20)
    rows = [["target", "found", "of those held"]]
    for (data, criterion, least, most), part in frame.groupby(["data", "criterion", "least", "most"], sort=False):
        asked = f"P-Rule ≥ {least:g}" if criterion == "demographic_parity" else f"mistreatment ≤ {1 - least:g}"
        held = str((part["fair"] & part["few"]).sum())
        rows.append([f"{data}, {asked}, changed ≤ {most:.0%}", f"{part['found'].sum()} of {len(part)}", held])
    return block(rows)


def interval_coverage():
    """How often 95 % intervals hold the truth: two groups, 1,000 samples for each number of people."""
    places = list(product(coverage.POPULATIONS, coverage.SIZES))
    found = Parallel(n_jobs=-1)(delayed(_covered)(*place) for place in places)
    covered = dict(zip(places, found, strict=True))
    rows = [["population", *coverage.COVERED]]
    for title in coverage.POPULATIONS:
        cells = (
            "/".join(f"{100 * covered[title, size][what]:.1f}" for size in coverage.SIZES) for what in coverage.COVERED
        )
        rows.append([title.replace(" %", "%"), *cells])
    return block(rows)


def _covered(title, size):
    return coverage.coverage(coverage.POPULATIONS[title], size, 1000, coverage.ours)[0]


def listed(frame):
    """Rows of a table, the headings first."""
    return [list(frame.columns), *frame.to_numpy().tolist()]


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
        tuned_parity,
        tuned_odds,
        tuned_within,
        tuned_sure,
        tuned_beaten,
        tuned_strengths,
        opened,
        nobody_loses,
        cut_offs,
        interventions,
        tree_kept,
        minima_found,
        targets_held,
        interval_coverage,
    )
}
NUMBERS |= {key: partial(under_protocol, key) for key in protocols.PROTOCOLS}
NUMBERS |= {f"later_rivals_{CRITERIA[name].figure_name}": partial(later_rivals, name) for name in CRITERIA}


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
