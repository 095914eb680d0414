"""What auditors, regulators and model hubs ask for: impact ratios, the EU AI Act's table, and the model card."""

import io
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from commod.dashboard.model.training import fit_result
from commod.dashboard.pages.take_home import page as take_home
from commod.dashboard.pages.take_home.files import model_card
from commod.dashboard.pages.take_home.report_law import UNKNOWN, impact_ratios, law_parts
from commod.dashboard.state.settings import defaults
from commod.dashboard.views.impact import BEYOND, impact_in_words
from commod.datasets import load_task
from tests.browsing import ROOT
from tests.dashboard.pages.test_take_home import HOSTILE, Reader, check_self_contained, fitted, report


def named(result, title):
    """The same with another title and other names of groups."""
    spec = replace(result.task.spec, title=title, groups=tuple(f"{title} {code}" for code in range(2)))
    task = replace(result.task, spec=replace(spec, name="own-0123"))
    return replace(result, scene=replace(result.scene, task=task))


RACES = {"American Indian": "Amer-Indian-Eskimo", "Asian or Pacific": "Asian-Pac-Islander"}


@pytest.mark.parametrize("model", ["f", "g"])
def test_every_cell_is_counted_again_from_the_file(model):
    """Sex, race and their crossing on adult, in plain Python: the CSV, and g's cells as the report prints them."""
    result = fit_result(defaults("adult"))
    scene = result.scene
    people = pd.read_parquet(ROOT / "data" / "adult.parquet").loc[scene.test.X.index]
    sexes = ["Female" if code == 0 else "Male" for code in people["sex"]]
    names = {raw: name for name, raw in RACES.items()}
    races = [names.get(race, race) for race in people["race"]]
    both = [" × ".join(pair) for pair in zip(races, sexes, strict=True)]
    decided, scores = (scene.decisions_test, scene.scores_test) if model == "f" else (result.decisions, result.scores)
    ordered = sorted(scores)
    middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    above = [score > middle for score in scores]
    found = impact_ratios(result).query("model == @model")
    printed = dict(law_parts(result)["impact"])
    assert found["attribute"].nunique() == 3
    for title, table in found.groupby("attribute"):
        of = {2: sexes, 5: races, 10: both}[len(table) - 1]
        groups = sorted(set(of))
        assert set(table["category"]) == {*groups, UNKNOWN}
        count, chosen, scored = (
            [sum(bool(each) for each, here in zip(what, of, strict=True) if here == name) for name in groups]
            for what in ([True] * len(of), decided, above)
        )
        large = [n >= 0.02 * len(of) for n in count]
        highest = [
            max(part / n for part, n, compared in zip(parts, count, large, strict=True) if compared)
            for parts in (chosen, scored)
        ]
        for name, n, yes, high, compared in zip(groups, count, chosen, scored, large, strict=True):
            row = table.set_index("category").loc[name]
            assert [row[each] for each in ("applicants", "selected", "above_median")] == [n, yes, high]
            shares = [row[each] for each in ("selection_rate", "scoring_rate", "impact_ratio", "scoring_impact_ratio")]
            ratios = [yes / n / highest[0], high / n / highest[1]] if compared else [np.nan, np.nan]
            assert shares == pytest.approx([yes / n, high / n, *ratios], nan_ok=True)
            if model == "g":
                told = [f"{yes / n:.1%}", f"{ratios[0]:.3f}" if compared else "–", f"{high / n:.1%}"]
                start = [name if compared else f"{name} *", f"{n:,}", f"{yes:,}", *told]
                assert start in [cells[:6] for cells in printed[title]]
    assert any(cells[0].endswith("*") for rows in printed.values() for cells in rows)  # in a crossing


def test_sex_race_and_their_crossing_are_counted_on_the_same_people():
    result = fitted()
    found = impact_ratios(result)
    crossing = load_task("law_school.race_sex")
    named = {title.split(" (")[0] for title in found["attribute"]}
    assert {*crossing.margins(), crossing.spec.sensitive} <= named
    applicants = found[found["model"] == "g"].groupby("attribute")["applicants"].sum()
    assert (applicants == len(result.scene.test)).all()
    by_group = found[found["category"].isin(crossing.groups)].query("model == 'g'").set_index("category")
    codes = crossing.sensitive.loc[result.scene.test.X.index]
    for code, name in enumerate(crossing.groups):
        assert by_group.loc[name, "applicants"] == (codes == code).sum()


def test_the_score_is_that_of_the_favourable_decision():
    result = fit_result(defaults("compas"))  # where the positive decision is the harm
    found = impact_ratios(result).query("model == 'g'").set_index(["attribute", "category"])
    first = next(iter(found.index))[0]
    above = result.scores < np.median(result.scores)
    for code, name in enumerate(result.task.groups):
        here = (result.scene.test.sensitive == code).to_numpy()
        assert found.loc[(first, name), "above_median"] == (above & here).sum()


def test_people_of_no_known_category_are_counted_and_small_ones_not_compared():
    result = fitted()
    test = result.scene.test
    codes = test.sensitive.copy()
    codes.iloc[:] = 0
    codes.iloc[:10] = 1
    rows = law_parts(named(replace(result, scene=replace(result.scene, test=replace(test, sensitive=codes))), "X"))
    ((_, table),) = rows["impact"]
    assert table[1][0] == "X 1 *"
    assert table[1][1] == "10"
    assert table[1][4] == "–"  # its impact ratio
    assert table[1][3].endswith("%")  # its rate is printed
    assert table[2][:2] == [UNKNOWN, "0"]


def test_the_csv_reads_back():
    (export,) = (each for each in take_home.exports(fitted(), fitted().settings) if each.title == "Impact ratios")
    frame = pd.read_csv(io.BytesIO(export.make()), encoding="utf-8-sig")
    pd.testing.assert_frame_equal(frame, impact_ratios(fitted()).round(6), check_dtype=False)


def test_the_report_says_what_it_is_not_and_leaves_fields_to_type():
    read = Reader(report(fitted()))
    check_self_contained(read)
    text = read.text
    assert "This is not an independent audit." in text
    assert text.lower().count("not legal advice") == 3
    for part in ("Art. 10(2)(f)", "Art. 10(5)", "Art. 13(3)(b)", "Art. 15(3)", "(c) People affected", "Bias profile"):
        assert part in text
    blank = [value for _, name, value in read.attributes if name == "aria-label" and value in text]
    assert {"Human oversight", "Period and frequency of use"} <= set(blank)
    harm = law_parts(fitted())["harm"]
    worse = sum(int(row[2].replace(",", "")) for row in harm)
    assert worse == fitted().change_counts.worse


def test_adverse_impact_is_told_with_fishers_test():
    result = fitted()
    told = impact_in_words(result.scene, result.scene.decisions_test)
    ratio = impact_ratios(result).query("model == 'f'")["impact_ratio"].iloc[:2].min()
    assert told["Adverse impact ratio"][0] == f"{ratio:.3f}"
    assert told["Fisher's exact test"] == ("p < 0.001", BEYOND)
    nobody = impact_in_words(result.scene, np.full(len(result.decisions), 1 - result.task.spec.favourable))
    assert nobody["Adverse impact ratio"] == ("–", "nothing to compare")


def front(card):
    """Metadata and text of a model card."""
    yaml = pytest.importorskip("yaml")
    _, head, body = re.split(r"^---$", card.lstrip(), maxsplit=2, flags=re.MULTILINE)
    return yaml.safe_load(head), body


def test_the_model_card_has_the_metadata_that_hubs_read():
    result = fitted()
    card = model_card(result, "print(1)", "1 May 2026")
    assert card.startswith("---\n")
    head, body = front(card)
    assert head["pipeline_tag"] == "tabular-classification"
    (model,) = head["model-index"]
    (found,) = model["results"]
    metrics = {each["type"]: each["value"] for each in found["metrics"]}
    for name in ("accuracy", "p_rule", "change_rate"):
        assert metrics[name] == pytest.approx(result.figures.loc[name, "g"], abs=1e-4)
    assert found["dataset"]["name"] == result.task.spec.title
    assert result.verdict in body.replace("\\", "")
    tables = [line for line in body.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in tables if "f" in line}) <= 3
    assert "print(1)\n```" in body


def test_hostile_titles_stay_within_the_card():
    title = f'{HOSTILE}\n---\nlicense: "mit"\n| a'
    head, body = front(model_card(named(fitted(), title), "", "1 May 2026"))
    assert "license" not in head
    assert head["model-index"][0]["results"][0]["dataset"]["name"] == title
    assert not re.search(r"(?<!\\)<(script|img)", body)  # those that are there are escaped
    assert not re.search(r"^(---|license)", body, flags=re.MULTILINE)
