"""A later batch: intervals of differences hold 0 as often as they say, a shift is seen, bad files get a sentence."""

import copy
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commod.cli import main
from commod.datasets.example import example_table
from commod.datasets.from_file import task_of_file
from commod.decisions import Requirements
from commod.experiments import prepare
from commod.experiments.scene import Scene
from commod.models.export import portable_json
from commod.monitoring import difference_of, read_model, reference_of, stability_index, watch
from commod.monitoring.watch import DRIFTED, _figures
from tests.fitting import Case, case, fit


def text_of(scene: Scene, g, rows):
    margins = scene.margin_of_f(rows.X), g.decision_function(rows.X)
    reference = reference_of(scene.task, rows, *margins, line=scene.line)
    return portable_json(g, contract=scene.task.contract, reference=reference)


def raw(task, rows):
    """The rows as a file would have them."""
    groups = pd.Series(np.array(task.groups, dtype=object)[rows.sensitive], index=rows.X.index)
    return rows.X.assign(**{task.spec.sensitive: groups, task.spec.target: rows.y})


@pytest.fixture(scope="module")
def law():
    """Model, the half of the test part that it tells of, and the other half as a batch."""
    scene, known = prepare("law_school"), case("law_school")
    g = fit(known, lambda_fair=3.0, lambda_concepts=0.05)
    order = np.random.default_rng(0).permutation(len(scene.test))
    old, new = (scene.test.take(np.sort(part)) for part in np.array_split(order, 2))
    return text_of(scene, g, old), g, scene, raw(scene.task, new), new


def test_figures_are_those_of_both_halves_and_nothing_is_trained(law):
    text, g, scene, batch, new = law
    found = watch(read_model(text.encode()), batch)
    assert (found.people, found.left_out, found.labelled) == (len(new), 0, True)
    rows = found.figures.set_index(["figure", "model"])
    decided, before = g.predict(new.X), (scene.margin_of_f(new.X) > 0).astype(int)
    assert rows.loc[("accuracy", "g"), "new"] == pytest.approx((decided == new.y).mean())
    assert rows.loc[("change_rate", "change"), "new"] == pytest.approx((decided != before).mean())
    assert rows.loc[("right", "change"), "new"] == pytest.approx((decided == new.y)[decided != before].mean())
    gap = (new.y - g.predict_proba(new.X)[:, 1]).mean()
    assert rows.loc[("calibration_gap", "g"), "new"] == pytest.approx(gap)
    assert {"p_rule", "dm", "positive_rate_0", "change_rate_1", "sure"} <= set(found.figures["figure"])
    assert found.figures["moved"].mean() < 0.25
    assert set(found.drift["drift"]) == {"stable"}
    assert (found.figures["low"] <= found.figures["difference"]).all()


def test_without_labels_what_needs_none_is_told(law):
    text, _, scene, batch, _ = law
    model = read_model(text.encode())
    bare = watch(model, batch.drop(columns=scene.task.spec.target), Requirements(dm=0.2, changed=0.5, again=0.5))
    assert not bare.labelled
    assert not {"accuracy", "dm", "calibration_gap", "right"} & set(bare.figures["figure"])
    whole = watch(model, batch).figures.set_index(["figure", "model"])
    for row in bare.figures.set_index(["figure", "model"])[["old", "new"]].itertuples():
        assert tuple(row[1:]) == pytest.approx(tuple(whole.loc[row.Index, ["old", "new"]]))
    assert bare.requirements["verdict"].tolist() == ["cannot tell", "pass", "cannot tell"]


def test_a_shifted_batch_is_seen(law):
    text, _, _, batch, _ = law
    shifted = batch.assign(lsat=batch["lsat"] - 8)
    found = watch(read_model(text.encode()), shifted)
    drift = found.drift.set_index("column")
    assert drift.loc["lsat", "drift"] == "shifted"
    assert drift.loc["ugpa", "drift"] == "stable"
    moved = found.figures[found.figures["moved"]].set_index(["figure", "model"])
    assert ("positive_rate_1", "f") in moved.index
    assert moved.loc[("calibration_gap", "f"), "low"] > 0  # scores fell, outcomes did not


@pytest.mark.slow
def test_intervals_of_differences_hold_0_as_often_as_they_say():
    """Two samples of one population, 150 times; and of two populations, where they must not."""
    rng = np.random.default_rng(0)
    same = rng.dirichlet(np.full(16, 2.0))
    other = 0.6 * same + 0.4 * rng.dirichlet(np.full(16, 2.0))
    common = {"groups": ["a", "b"], "outcomes": ["no", "yes"]}
    moved = {"same": [], "other": []}
    for name, population in (("same", same), ("other", other)):
        for _ in range(150 if name == "same" else 20):
            old, new = (
                rng.multinomial(n, p).reshape(2, 2, 2, 2).astype(float) for n, p in ((900, same), (500, population))
            )
            rows = pd.DataFrame(_figures({**common, "counts": old.tolist()}, new, labelled=True))
            moved[name].append(((rows["low"] > 0) | (rows["high"] < 0)).to_numpy())
    assert 0.02 < np.mean(moved["same"]) < 0.08
    assert np.mean(moved["same"], axis=0).max() < 0.05 + 4 * np.sqrt(
        0.05 * 0.95 / 150
    )  # nor is any one figure far from it
    assert np.mean(moved["other"], axis=0).max() > 0.9
    assert np.mean(moved["other"]) > 3 * np.mean(moved["same"])


def test_newcombes_interval():
    """The first example of Newcombe (1998), 56 of 70 against 48 of 80: 0.0524 to 0.3339."""
    from commod.metrics.intervals import wilson_interval

    ends = [tuple(map(float, wilson_interval(part, whole))) for part, whole in ((48, 80), (56, 70))]
    difference, low, high = difference_of(48 / 80, ends[0], 56 / 70, ends[1])
    assert (difference, low, high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


def test_stability_by_chance_and_by_drift():
    rng = np.random.default_rng(0)
    share = np.full(10, 0.1)
    drawn = [stability_index(rng.multinomial(1000, share), rng.multinomial(200, share)) for _ in range(400)]
    assert 0.02 < np.mean([index > chance for index, chance in drawn]) < 0.08
    assert stability_index([100] * 10, [10, 10, 10, 10, 10, 90, 90, 90, 90, 90])[0] > DRIFTED


def test_a_table_that_somebody_brought(tmp_path):
    path = tmp_path / "applicants.csv"
    example_table().to_csv(path, index=False)
    task, _ = task_of_file(path, {"target": "hired", "favourable": "yes", "sensitive": "group"})
    from commod.datasets import add_task

    add_task(task)
    scene = prepare(task.name)
    g = fit(Case(task, scene.train, scene.test, scene.f), lambda_fair=1.0)
    model = read_model(text_of(scene, g, scene.test).encode())
    found = watch(model, pd.read_csv(path).loc[scene.test.X.index])
    assert found.people == len(scene.test)
    figures = found.figures.set_index(["figure", "model"])
    np.testing.assert_allclose(figures["difference"], 0, atol=1e-9)  # the same people
    assert not found.figures["moved"].any()


def test_the_command_line(law, tmp_path, capsys):
    text, _, _, batch, _ = law
    model, table, asked = tmp_path / "model.json", tmp_path / "batch.csv", tmp_path / "asked.json"
    model.write_text(text, encoding="utf-8")
    batch.to_csv(table, index=False)
    asked.write_text('{"changed": 0.9}')
    assert main(["watch", str(model), str(table), "--requirements", str(asked)]) == 0
    assert "at most 90 % of the decisions changed" in capsys.readouterr().out
    asked.write_text('{"p_rule": 1, "changed": 0.001}')
    assert main(["watch", str(model), str(table), "--requirements", str(asked)]) == 1
    assert "fail" in capsys.readouterr().out
    asked.write_text('{"moon": 1}')
    assert main(["watch", str(model), str(table), "--requirements", str(asked)]) == 2
    for content, message in (
        ("group,age,sex\na,1,f\nb,2,m\n", "has no column"),
        (batch.head(5).to_csv(index=False), "at least 20 must"),
        ("", "empty"),
    ):
        table.write_text(content)
        assert main(["watch", str(model), str(table)]) == 2
        assert message in capsys.readouterr().err
    content = json.loads(text)
    del content["reference"]
    model.write_text(json.dumps(content))
    batch.to_csv(table, index=False)
    assert main(["watch", str(model), str(table)]) == 2
    assert "download it again" in capsys.readouterr().err


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_a_model_may_hold_anything(law, data):
    text, _, _, batch, _ = law
    content = copy.deepcopy(json.loads(text))
    part = content
    for _ in range(data.draw(st.integers(0, 2))):
        inner = [value for value in part.values() if isinstance(value, dict) and value]
        part = data.draw(st.sampled_from(inner)) if inner else part
    leaves = st.none() | st.booleans() | st.integers(-3, 10**6) | st.floats(allow_nan=False) | st.text(max_size=3)
    part[data.draw(st.sampled_from(sorted(part)))] = data.draw(leaves | st.lists(leaves, max_size=3) | st.just({}))
    said = "."
    try:
        watch(read_model(json.dumps(content).encode()), batch.head(60))
    except ValueError as error:
        said = str(error)
    assert said.endswith(".")
