"""Every data set tells its story in people's words, under every grouping and in every language."""

import pandas as pd
import pytest

from commod.dashboard.text.language import LANGUAGES
from commod.dashboard.text.stories import called, dots_label, of_100, story
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


def test_an_upload_is_told_by_the_names_chosen():
    assert story("en", TASKS["law_school"]) == "A law school predicts who passes the bar."
    assert story("fr", TASKS["law_school"]) == "Une faculté de droit prédit qui réussit l’examen du barreau."
    assert story("en", OWN) == "A model decides about people: “hired: yes” or “hired: no”."


def test_a_crossing_is_called_by_both_its_parts():
    law = TASKS["law_school"].under("race_sex")
    assert called("en", law, 0) == "Non-White female students"
    assert called("fr", law, 0) == "étudiants non blancs (femmes)"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", TASKS)
def test_every_group_of_every_data_set_is_called_something(name, language):
    spec = TASKS[name]
    assert language == "en" or story(language, spec) != spec.story
    for grouping in spec.task_names:
        here = spec.under(grouping)
        names = [called(language, here, code) for code in range(len(here.groups))]
        assert len(set(names)) == len(names)
        assert not [text for text in names if "“" in text or "{" in text]


def test_somebody_is_never_rounded_to_nobody():
    assert [of_100("en", {"of_100_now": 0, "now": share}, "now") for share in (0.0, 0.004)] == ["0", "fewer than 1"]
    assert [of_100("en", {"of_100_now": 100, "now": share}, "now") for share in (1.0, 0.996)] == ["100", "more than 99"]


def test_labels_have_the_rates():
    assert dots_label("en", OWN, 0, TWO.iloc[0]) == "People (A): 15 → 37"
