"""The contract for raw rows: a row of text from the file gives the score that the app gives."""

import csv
import io
from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from commod import Commod, load_task
from commod.datasets import Choice, guess_columns, make_task, read_table, task_names
from commod.models.base_models import BASE_MODELS
from commod.models.export import portable_json
from commod.portable import load

N = 400


def gaps(rng, values, word="", share=0.15):
    return [word if rng.random() < share else value for value in values]


def people(seed):
    """Two groups, an outcome that follows x, and something to pick from."""
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 2, N)
    x = rng.normal(size=N) + 0.8 * s
    y = (x + 0.7 * rng.normal(size=N) > 0.4).astype(int)
    return rng, s, x, y


def titanic():
    """Gaps in age, cabin and port."""
    rng, s, x, y = people(1)
    decks = [f"{deck}{rng.integers(1, 90)}" for deck in rng.choice(list("ABCDEF"), N)]
    return (
        {
            "PassengerId": [i + 1 for i in range(N)],
            "Survived": y,
            "Pclass": rng.integers(1, 4, N),
            "Sex": np.where(s == 1, "female", "male"),
            "Age": gaps(rng, [f"{28 + 9 * a:.1f}" for a in x]),
            "SibSp": rng.integers(0, 4, N),
            "Fare": [f"{np.exp(2 + 0.5 * a):.4f}" for a in x],
            "Cabin": gaps(rng, decks, share=0.6),
            "Embarked": gaps(rng, rng.choice(["S", "C", "Q"], N), share=0.02),
        },
        ("Survived", "1", "Sex"),
        {"kinds": {"Cabin": "category"}},
    )


def adult():
    """A question mark for what is not known, a space behind every comma."""
    rng, s, x, y = people(2)
    return (
        {
            "age": [str(int(38 + 9 * a)) for a in x],
            "workclass": gaps(rng, rng.choice(["Private", "State-gov", "Self-emp"], N), "?"),
            "capital-gain": rng.choice(["0", "7298", "99999"], N),
            "country": gaps(rng, rng.choice(["United-States", "Mexico"], N), "?"),
            "sex": np.where(s == 1, "Male", "Female"),
            "income": np.where(y == 1, ">50K", "<=50K"),
        },
        ("income", ">50K", "sex"),
        {"separator": ", "},
    )


def thousands():
    """69,487.00 in quotes, dollars, and some cells that are no numbers."""
    rng, s, x, y = people(3)
    return {
        "salary": gaps(rng, [f"{60_000 + 15_000 * a:,.2f}" for a in x], "n/a"),
        "debt": gaps(rng, [f"${max(0, 9_000 - 4_000 * a):,.0f}" for a in x], "none given", 0.05),
        "small": [f"{1_500 + 300 * a:,.0f}" for a in x],
        "race": np.where(s == 1, "White", "Black"),
        "approved": np.where(y == 1, "yes", "no"),
    }, ("approved", "yes", "race")


def commas():
    """A decimal comma and semicolons, as spreadsheets write them in many countries."""
    rng, s, x, y = people(4)
    return (
        {
            "Note": gaps(rng, [f"{3 + a:.2f}".replace(".", ",") for a in x]),
            "Anteil": [f"{0.5 + 0.1 * a:.3f}".replace(".", ",") for a in x],
            "Betrag": [f"{10 + a:.3f}".replace(".", ",") for a in x],  # 10,123: a thousand elsewhere
            "Stadt": rng.choice(["Köln", "Ulm"], N),
            "Klasse": rng.choice(["1,5", "2,5", "3"], N),
            "Geschlecht": np.where(s == 1, "m", "w"),
            "angenommen": np.where(y == 1, "ja", "nein"),
        },
        ("angenommen", "ja", "Geschlecht"),
        {"separator": ";"},
    )


def booleans():
    """True, TRUE and true, with gaps and without; whole numbers as levels."""
    rng, s, x, y = people(5)
    return {
        "member": np.where(x > 0, "True", "False"),
        "owner": gaps(rng, np.where(rng.random(N) < 0.5, "TRUE", "FALSE")),
        "mixed": rng.choice(["true", "false", "perhaps"], N),
        "score": [f"{a:.6f}" for a in x],
        "gender": np.where(s == 1, "M", "F"),
        "hired": np.where(y == 1, "true", "false"),
    }, ("hired", "True", "gender")


def ids():
    """Codes that say nothing, one with leading zeros and one of many digits."""
    rng, s, x, y = people(6)
    return (
        {
            "customer_id": [f"{i:08d}" for i in rng.permutation(N)],
            "iban": [str(10**14 + int(i)) for i in rng.permutation(N)],
            "zip": rng.choice(["01067", "50667", "80331"], N),
            "x": [repr(float(a)) for a in x],
            "sex": np.where(s == 1, "1", "2"),
            "default": np.where(y == 1, "0", "1"),
        },
        ("default", "0", "sex"),
        {"kinds": {"zip": "category"}},
    )


def dates():
    """Three ways to write a date, a time of day in one of them."""
    rng, s, x, y = people(7)
    day = np.datetime64("2015-03-01") + (200 * (x + 3)).astype(int)
    parts = [str(d).split("-") for d in day]
    return (
        {
            "applied": gaps(rng, [str(d) for d in day]),
            "arrested": [f"{d} {rng.integers(0, 24):02d}:{rng.integers(0, 60):02d}:00" for d in day],
            "us": [f"{int(m)}/{int(d)}/{y_}" for y_, m, d in parts],
            "german": [f"{d}.{m}.{y_}" for y_, m, d in parts],
            "group": np.where(s == 1, "a", "b"),
            "recid": y,
        },
        ("recid", "1", "group"),
        {"kinds": dict.fromkeys(["applied", "arrested", "us", "german"], "number")},
    )


def many_levels():
    """More than thirty levels, and a level that is itself called other."""
    rng, s, x, y = people(8)
    weights = 1 / np.arange(1, 61)
    jobs = rng.choice([f"job {i}" for i in range(59)] + ["other"], N, p=weights / weights.sum())
    return {
        "job": gaps(rng, jobs, "unknown"),
        "x": [f"{a:.3e}" for a in x],
        "sex": np.where(s == 1, "male", "female"),
        "passed": np.where(y == 1, "pass", "fail"),
    }, ("passed", "pass", "sex")


def mixed():
    """1, 1.0 and 01 are one level, be there texts beside them or not."""
    rng, s, x, y = people(9)
    return (
        {
            "children": gaps(rng, rng.choice(["0", "1", "1.0", "2", "2.00"], N), "NA"),
            "class": rng.choice(["1", "1.0", "01", "A", "B"], N),
            "x": gaps(rng, [f"{a:.2f}" for a in x], "-"),
            "sign": rng.choice(["+", "-"], N),
            "sex": np.where(s == 1, "male", "female"),
            "y": y,
        },
        ("y", "1", "sex"),
        {"kinds": {"children": "category"}},
    )


def spaces():
    """Spaces around names, numbers and levels; percentages; words for nothing."""
    rng, s, x, y = people(10)
    return {
        " rate ": gaps(rng, [f" {50 + 10 * a:.1f}% " for a in x], " "),
        "town ": gaps(rng, rng.choice([" Bonn", "Bonn ", "Bonn", "Trier "], N), "null"),
        "amount": [f" {2_000 + 300 * a:,.1f}".replace(",", " ") for a in x],
        "note": gaps(rng, [f"{a:.2f}" for a in x], "#N/A"),
        " race": np.where(s == 1, " White ", "Other"),
        "outcome": np.where(y == 1, "good ", "bad"),
    }, ("outcome", "good", "race")


FILES = [titanic, adult, thousands, commas, booleans, ids, dates, many_levels, mixed, spaces]


def as_bytes(columns, separator=","):
    out = io.StringIO()
    if separator == ", ":  # as csv cannot write it
        rows = [list(columns), *zip(*columns.values(), strict=True)]
        return "\n".join(separator.join(map(str, row)) for row in rows).encode()
    writer = csv.writer(out, delimiter=separator)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue().encode()


@cache
def made(file):
    """The bytes of a file, and the task that the app makes of them with its own guesses."""
    columns, (target, favourable, sensitive), *more = file()
    more = more[0] if more else {}
    content = as_bytes(columns, more.get("separator", ","))
    table = read_table(content).frame
    kinds = guess_columns(table)["kind"].to_dict() | more.get("kinds", {})
    groups = tuple(sorted(table[sensitive].astype(str).str.strip().unique()))
    own = make_task(table, Choice(target, favourable, sensitive, groups, kinds))
    return content, more.get("separator", ",")[0], own.task


@pytest.mark.parametrize(
    ("file", "base_model"),
    [
        *((file, "logistic_regression") for file in FILES),
        *((file, "gradient_boosting") for file in (commas,)),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_row_of_text_gives_the_score_of_the_app(file, base_model):
    content, separator, task = made(file)
    train, _ = task.split(seed=0)
    f = task.base_model(BASE_MODELS[base_model][1]()).fit(train.X, train.y)
    g = Commod(f, lambda_fair=1.0, n_concepts=1).fit(train.X, train.y, sensitive_features=train.sensitive)
    read = load(portable_json(g, contract=task.contract))
    assert read.content["raw"]
    rows = list(csv.DictReader(io.StringIO(content.decode()), delimiter=separator))
    assert len(rows) == len(task.X) == N
    np.testing.assert_allclose(read.scores_of_f(rows), f.predict_proba(task.X)[:, 1], rtol=0, atol=1e-9)
    expected = g.predict_proba(task.X)[:, 1]
    np.testing.assert_allclose(read.predict_proba(rows)[:, 1], expected, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(read.predict(rows), g.predict(task.X))
    # What the model was fitted on is read alike: a program may have read the file already.
    np.testing.assert_allclose(read.predict_proba(task.X)[:, 1], expected, rtol=0, atol=1e-9)
    assert abs(read.explain(rows[0])[-1]["logit"] - g.decision_function(task.X.iloc[[0]])[0]) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", task_names())
def test_every_built_in_data_set_as_text(name):
    task = load_task(name)
    few = task.X.iloc[:: max(1, len(task.X) // 800)]
    train, _ = task.split(seed=0)
    train = train.take(np.arange(0, len(train), max(1, len(train) // 3000)))
    f = task.base_model(LogisticRegression(max_iter=1000)).fit(train.X, train.y)
    g = Commod(f, lambda_fair=1.0, n_concepts=1).fit(train.X, train.y, sensitive_features=train.sensitive)
    read = load(portable_json(g, contract=task.contract))
    rows = list(csv.DictReader(io.StringIO(few.to_csv(index=False))))
    np.testing.assert_allclose(read.predict_proba(rows), g.predict_proba(few), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(read.predict(rows), g.predict(few))
