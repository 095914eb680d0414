"""Every data set tells its story in people's words, under every grouping and in every language."""

from dataclasses import replace
from string import Formatter

import pandas as pd
import pytest

from commod.dashboard.text.language import LANGUAGES
from commod.dashboard.text.stories import called, label_of, of_100, story
from commod.datasets import TASKS, TaskSpec

pytestmark = pytest.mark.quick

OWN = TaskSpec(
    name="own",
    title="file.csv",
    features=(),
    target="hired",
    target_label="hired is yes",
    outcomes=("hired: no", "hired: yes"),
    favourable=1,
    sensitive="group",
    groups=("A", "B"),
    filter="",
)


def hundred(*rows):
    """From shares before, now, raised and lowered, and a number of people, which is 500 unless said otherwise."""
    made = []
    for before, now, raised, lowered, *count in rows:
        shares = {"before": before, "now": now, "raised": raised, "lowered": lowered}
        made.append(
            {"count": (count or [500])[0], **shares} | {f"of_100_{k}": round(100 * v) for k, v in shares.items()}
        )
    return pd.DataFrame(made)


TWO = hundred((0.15, 0.37, 0.24, 0.02), (0.59, 0.6, 0.02, 0.01))


def test_the_story_of_the_law_school():
    assert story("en", TASKS["law_school"], TWO) == (
        "A law school predicts who will pass the bar exam. Of 100 White students it says so of 59, of 100 Non-White "
        "students of 15."
    )
    assert story("fr", TASKS["law_school"], TWO) == (
        "Une faculté de droit prédit qui réussira l'examen du barreau. Sur 100 étudiants blancs, elle prédit la "
        "réussite de 59\u202f; sur 100 étudiants non blancs, de 15."
    )


def test_an_upload_is_told_by_the_names_chosen():
    assert story("en", OWN, TWO) == (
        "A model decides about people: “hired: yes” or “hired: no”. Of 100 people in “B” it says “hired: yes” of 59, "
        "of 100 people in “A” of 15."
    )


def test_a_crossing_is_spoken_of_as_people_speak():
    law, german = TASKS["law_school"].under("race_sex"), TASKS["german"].under("age_sex")
    assert [called("en", law, code) for code in (0, 3)] == ["Non-White female students", "White male students"]
    assert called("fr", law, 0) == "étudiants non blancs de sexe féminin"
    assert called("en", german, 0) == "female applicants of 25 or younger"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", TASKS)
def test_every_group_of_every_data_set_is_called_something(name, language):
    spec = TASKS[name]
    fields = {field for _, field, _, _ in Formatter().parse(spec.story) if field}
    assert fields == {"one", "other", "first", "second"}
    for grouping in spec.task_names:
        here = spec.under(grouping)
        names = [called(language, here, code) for code in range(len(here.groups))]
        assert len(set(names)) == len(names)
        assert not [text for text in names if "“" in text or "{" in text]
        told = story(language, here, hundred(*[(0.3, 0.3, 0, 0)] * (len(here.groups) - 1), (0.1, 0.1, 0, 0)))
        assert "{" not in told
        assert (len(here.groups) > 2) == told.endswith(("furthest apart.", "plus éloignés."))


def test_of_many_groups_the_extremes_are_told_and_few_people_are_none():
    adult = TASKS["adult"].under("race")
    rows = hundred((0.0, 0, 0, 0, 9), (0.3, 0, 0, 0), (0.12, 0, 0, 0), (0.2, 0, 0, 0), (0.25, 0, 0, 0))
    told = story("en", adult, rows)
    assert "Of 100 Asian or Pacific adults it says so of 30, of 100 Black adults of 12." in told
    assert told.endswith("Of the 4 groups with at least 100 test people, these two are furthest apart.")
    assert story("en", adult, rows.assign(count=500)).endswith("Of 5 groups, these two are furthest apart.")


def test_somebody_is_never_rounded_to_nobody():
    assert [of_100("en", 0, share) for share in (0.0, 0.004)] == ["0", "fewer than 1"]
    assert [of_100("en", 100, share) for share in (1.0, 0.996)] == ["100", "more than 99"]
    row = hundred((0.15, 0.15, 0.004, 0.0)).iloc[0]
    assert label_of("en", OWN, 0, row) == ("People in “A”\n15 → 15 of 100: “hired: yes”\n▲ fewer than 1 better off")


def test_labels_tell_better_from_worse_by_the_favourable_decision():
    row = TWO.iloc[0]
    assert label_of("en", OWN, 0, row).endswith("▲ 24 better off, ▼ 2 worse off")
    assert label_of("en", replace(OWN, favourable=0), 0, row).endswith("▲ 2 better off, ▼ 24 worse off")
    assert label_of("en", OWN, 0, row, lines=2) == "People in “A”\n15 → 37 of 100: “hired: yes”  ▲ 24 ▼ 2"
    assert label_of("en", OWN, 0, hundred((0.15, 0.15, 0, 0)).iloc[0]).endswith("nobody changes")
