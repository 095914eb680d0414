"""The loader alone: nothing but numpy, and clear words for what is wrong with a file or with rows."""

import copy
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

import commod
from commod import portable
from commod.models.export import portable_json
from commod.portable import load
from tests.fitting import case, fit

# Refuses every import but of numpy and of the standard library (and of what comes with numpy).
ALONE = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top in ALLOWED or top in sys.stdlib_module_names:
            return None
        raise ImportError(f"{name} is not to be imported here")

ALLOWED = set(sys.argv[1].split(","))
sys.meta_path.insert(0, Refuse())
import json
from importlib import import_module
load = import_module(sys.argv[2]).load
g = load(sys.argv[3])
rows = json.load(open(sys.argv[4]))
print(json.dumps([g.predict_proba(rows)[:, 1].tolist(), g.predict(rows).tolist(), g.explain(rows[0])]))
assert not {"sklearn", "pandas", "scipy", "torch"} & set(sys.modules)
"""


@pytest.fixture(scope="module")
def model():
    on = case("german", 0, "gradient_boosting")
    return on, fit(on, lambda_fair=4.0)


@pytest.fixture
def content(model):
    return json.loads(portable_json(model[1]))


def row_of(model):
    return model[0].test.X.iloc[0].to_dict()


@pytest.mark.parametrize("module", ["commod.portable", "commod_portable"])
def test_it_runs_where_there_is_nothing_but_numpy(model, tmp_path, module):
    on, g = model
    (tmp_path / "model.json").write_text(portable_json(g), encoding="utf-8")
    (tmp_path / "rows.json").write_text(on.test.X.to_json(orient="records", double_precision=15))
    root = portable.__file__.rsplit("/", 2)[0]
    if module == "commod_portable":  # the file alone, copied to where the project is not
        shutil.copy(portable.__file__, tmp_path / "commod_portable.py")
        root = str(tmp_path)
    program = f"import sys\nsys.path.insert(0, {root!r})\n{ALONE}"
    arguments = [f"numpy,{module.split('.')[0]}", module, str(tmp_path / "model.json"), str(tmp_path / "rows.json")]
    command = [sys.executable, "-W", "error", "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    scores, decisions, terms = json.loads(done.stdout)
    np.testing.assert_allclose(scores, g.predict_proba(on.test.X)[:, 1], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(decisions, g.predict(on.test.X))
    assert [term["term"] for term in terms] == ["f", "constant", *g.concepts_, "g"]


def test_the_package_is_imported_lazily_and_completely():
    assert set(commod.__all__) <= set(dir(commod))
    for name in commod.__all__:
        assert getattr(commod, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Commodd'"):
        _ = commod.Commodd
    with pytest.raises(ImportError):
        from commod import nothing_like_it  # noqa: F401


def test_load_takes_a_path_a_text_or_a_mapping(model, content, tmp_path):
    text = portable_json(model[1])
    path = tmp_path / "model.json"
    path.write_text(text, encoding="utf-8")
    row = row_of(model)
    first = load(text).predict_proba([row])
    for source in (path, str(path), content, "\n" + text):
        np.testing.assert_array_equal(load(source).predict_proba([row]), first)
    assert repr(load(text)).startswith("<Portable: f boosting, 2 concepts, columns [")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing.json")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '{"format": "commod-portable/7"}',
            "has format 'commod-portable/7', but this loader reads 'commod-portable/1' to 'commod-portable/6'",
        ),
        ("{}", "has format None"),
        ('{"format": ', "This is no JSON file"),
        ('{"format": NaN}', "NaN, which is not a number in strict JSON"),
        ('{"format": "commod-portable/1"}', "damaged: KeyError 'encoder'"),
    ],
)
def test_a_file_that_is_no_model(text, says):
    with pytest.raises(ValueError, match=says):
        load(text)


def test_a_text_that_is_no_object(tmp_path):
    (tmp_path / "list.json").write_text("[1]")
    with pytest.raises(ValueError, match="must be one object"):
        load(tmp_path / "list.json")


def damage(content, keys, value):
    damaged = copy.deepcopy(content)
    at = damaged
    for key in keys[:-1]:
        at = at[key]
    at[keys[-1]] = value
    return damaged


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("r", "coef"), [1.0]),
        (("r", "intercept"), "much"),
        (("r", "intercept"), 1e999),
        (("encoder", "scale", 0), 0.0),
        (("encoder", "mean"), None),
        (("classes",), [0, 1, 2]),
        (("f", "kind"), "oracle"),
        (("f", "baseline"), None),
        (("f", "trees", 0, "left", 0), 0),  # a walk without end
        (("f", "trees", 0, "right", 0), 10_000),
        (("f", "trees", 0, "feature", 0), 10_000),
        (("f", "trees", 0, "number"), [1.0]),
        (("f",), {"kind": "forest", "trees": []}),
        (("f",), []),
    ],
)
def test_a_damaged_file_is_refused_before_it_decides(content, keys, value):
    with pytest.raises(ValueError, match="This file is damaged"):
        load(damage(content, keys, value))


def test_rows_that_cannot_be_used(model):
    g, row = load(portable_json(model[1])), row_of(model)
    number = next(name for name, value in row.items() if not isinstance(value, str))
    category = next(name for name, value in row.items() if isinstance(value, str))
    for rows, says in [
        ([{k: v for k, v in row.items() if k != number}], f"These rows lack column '{number}'"),
        ([row, {}], "These rows lack columns"),
        ([{**row, number: "many"}], f"Column '{number}' must hold numbers, but row 0 holds 'many'"),
        ([row, {**row, number: None}], f"Column '{number}' has no value in row 1"),
        ([{**row, number: float("nan")}], f"Column '{number}' has no value in row 0"),
        ([{**row, number: float("inf")}], "must hold finite numbers; row 0 does not"),
        ([{**row, category: None}], f"Column '{category}' has no value in row 0"),
        ([{**row, category: ["a"]}], f"Column '{category}' must hold levels of a category"),
        (row, "must be a list of values; for one row, pass a list with one dict"),
        ({**{k: [v] for k, v in row.items()}, number: [1, 2]}, "The columns differ in length"),
        ([[1, 2]], "Row 0 must be a dict of its columns, not list"),
        ("rows", "a list of dicts or a dict of columns, not str"),
    ]:
        with pytest.raises(ValueError, match=says):
            g.predict(rows)
    with pytest.raises(ValueError, match="explain takes one row"):
        g.explain([row])
    for scores, says in [(["x"], "must hold numbers"), ([1.5], "between 0 and 1"), ([np.nan], "between 0 and 1")]:
        with pytest.raises(ValueError, match=says):
            g.predict([row], base_scores=scores)


def test_what_rows_may_have(model):
    """More columns than needed, an unknown level, numbers as text as a CSV reader gives them; none at all."""
    on, g = model
    row = row_of(model)
    numbers = [name for name, value in row.items() if not isinstance(value, str)]
    read = load(portable_json(g))
    expected = read.predict_proba([row])
    as_text = {name: str(value) for name, value in row.items()} | {"group": "young"}
    np.testing.assert_array_equal(read.predict_proba([as_text]), expected)
    np.testing.assert_array_equal(read.predict_proba({k: [v] for k, v in row.items()}), expected)
    category = next(name for name in row if name not in numbers)
    strange = on.test.X.iloc[[0]].assign(**{category: "never seen"})
    np.testing.assert_allclose(
        read.predict_proba([{**row, category: "never seen"}]), g.predict_proba(strange), rtol=0, atol=1e-12
    )
    assert read.predict_proba([]).shape == (0, 2)
    np.testing.assert_allclose(
        read.predict_proba([row, row], base_scores=[0.0, 1.0]),
        g.predict_proba(on.test.X.iloc[[0, 0]], base_scores=[0.0, 1.0]),
        rtol=0,
        atol=1e-12,
    )
