"""The bottom line of a later look: still true, not any more, or cannot tell."""

from dataclasses import replace

import pandas as pd
import pytest

from commod.decisions import Requirements, check_requirements
from commod.monitoring import batch_of, check_then_and_now, outcome_of, watch
from commod.monitoring.outcome import far_beyond_chance

pytestmark = pytest.mark.quick

NOTHING = pd.DataFrame()


@pytest.fixture(scope="module")
def found(law):
    return watch(law.model, law.batch)


def record(**verdicts):
    return {"verdicts": [{"requirement": name, "verdict": verdict} for name, verdict in verdicts.items()]}


def checked(found, required, signed=None):
    return check_then_and_now(required, found.old_facts, found.facts, signed)


def test_old_facts_are_those_of_the_people_tested_on(law, found):
    on_themselves = watch(law.model, batch_of(law.scene.task, law.old))
    pd.testing.assert_frame_equal(
        check_requirements(Requirements(p_rule=0.7, changed=0.1, right=0.5, sure=0.3), found.old_facts),
        check_requirements(Requirements(p_rule=0.7, changed=0.1, right=0.5, sure=0.3), on_themselves.facts),
    )


@pytest.mark.parametrize(
    ("then", "title", "became"),
    [
        ("pass", "Not any more", "held when it was signed, fails now"),
        ("cannot tell", "Not any more", "could not be determined when it was signed, fails now"),
        ("fail", "Not true, as before", "failed already when it was signed, fails now"),
        ("does not apply", "Not any more", "did not apply when it was signed, fails now"),
    ],
)
def test_what_fails_now_is_told_by_what_it_was(found, then, title, became):
    rows = checked(found, Requirements(p_rule=0.99), record(p_rule=then))
    assert rows["became"].tolist() == [became]
    assert rows["broke"].tolist() == [then != "fail"]
    outcome = outcome_of(found, rows)
    assert (outcome.kind, outcome.title) == ("broken", title)
    assert became in outcome.why


def test_the_other_outcomes_of_requirements(found):
    holds = outcome_of(found, checked(found, Requirements(p_rule=0.1, changed=0.9)))
    assert holds[:4] == ("holds", "Still true", "On these people 2 of 2 requirements hold.", ())
    unknown = outcome_of(found, checked(found, Requirements(p_rule=0.6, changed=0.9)))
    assert (unknown.kind, unknown.title) == ("unknown", "Cannot tell")
    assert unknown.why.startswith("None of 2 requirements fails, but 1 cannot be determined. ")
    assert "the true value may lie anywhere from 0.455 to 0.698" in unknown.why
    both = checked(found, Requirements(p_rule=0.99, changed=0.0001), record(p_rule="pass", changed="fail"))
    assert outcome_of(found, both).why.endswith("1 other failed already before.")
    other = outcome_of(found, both, other_model="This is not the model of the decision.")
    assert other[:4] == ("unknown", "Cannot tell", "This is not the model of the decision.", ())


def test_a_verdict_that_counts_neither_way(found):
    rows = checked(found, Requirements(p_rule=0.1, changed=0.9))
    rows.loc[1, "verdict"] = "does not apply"
    assert outcome_of(found, rows).why == "On these people 1 of 2 requirements hold; the rest does not apply."
    rows["verdict"] = "does not apply"
    assert outcome_of(found, rows).kind == "unknown"


def test_later_people_tell_nothing_of_refits(found):
    rows = checked(found, Requirements(p_rule=0.1, again=0.5))
    assert rows["verdict"].tolist() == ["pass", "does not apply"]
    assert outcome_of(found, rows).title == "Still true"


def test_a_value_near_its_limit_passes_once_a_large_drop_is_ruled_out(law):
    many = watch(law.model, pd.concat([law.batch] * 4, ignore_index=True))
    rows = checked(many, Requirements(p_rule=0.56))
    assert rows.loc[0, "low"] < 0.56 < rows.loc[0, "value"]
    outcome = outcome_of(many, rows)
    assert outcome.title == "Still true"
    assert outcome.why.endswith("at least 0.56 required. A drop to 0.460 is ruled out.")
    assert outcome_of(many, checked(many, Requirements(p_rule=0.58))).title == "Cannot tell"  # on the wrong side


def moved_by(found, difference, reach):
    """As if every figure had moved by as much, with an interval that reaches as far."""
    figures = found.figures.assign(difference=difference, low=difference - reach, high=difference + reach)
    return replace(found, figures=figures.assign(moved=abs(difference) > reach))


def test_without_requirements_what_moved_decides(law, found):
    few = outcome_of(watch(law.model, law.batch.head(200)), NOTHING)
    assert (few.kind, few.title) == ("unknown", "Cannot tell")
    assert "the P-Rule must fall by 0.413 or more" in few.why
    assert "1 in 20 (about 2) would by chance alone." in few.why
    assert outcome_of(moved_by(found, 0.01, 0.05), NOTHING).title == "Still true"
    assert outcome_of(moved_by(found, 0.01, 0.2), NOTHING).title == "Cannot tell"
    shifted = outcome_of(watch(law.model, law.batch.assign(lsat=law.batch["lsat"] - 8)), NOTHING)
    assert (shifted.kind, shifted.title) == ("broken", "Not as it was")
    assert "The P-Rule is one of them, and would count even alone." in shifted.why
    blind = outcome_of(watch(law.model, law.batch.drop(columns=["race", "pass_bar"])), NOTHING)
    assert (blind.kind, blind.why[:49]) == ("unknown", "The P-Rule cannot be measured on this batch. Of 6")


def test_a_fall_that_chance_may_explain_is_smaller_than_one_that_is_noticed(found):
    figures = found.figures.copy()
    row = figures.index[(figures["figure"] == "p_rule") & (figures["model"] == "g")]
    figures.loc[row, ["difference", "low", "high"]] = [-0.397, -0.53, 0.05]  # it reaches further up than down
    few = outcome_of(replace(found, figures=figures.assign(moved=False)), NOTHING)
    assert "the P-Rule must fall by 0.639 or more" in few.why


def test_far_beyond_chance_asks_for_more_the_more_is_compared(found):
    """With 32 figures, |z| must exceed 3.16 and not 1.96: 0.05 / 32 / 2 is the tail of a normal distribution there."""
    assert len(found.figures) == 32
    assert not far_beyond_chance(moved_by(found, 3.1, 1.96).figures).any()
    assert far_beyond_chance(moved_by(found, 3.3, 1.96).figures).all()
    assert far_beyond_chance(moved_by(found, -3.3, 1.96).figures).all()
    main = moved_by(found, 0.0, 0.05).figures.reset_index(drop=True)
    far = main.index[main["figure"] == "accuracy"]
    main.loc[far, ["difference", "low", "high", "moved"]] = [-0.2, -0.24, -0.16, True]
    outcome = outcome_of(replace(found, figures=main), NOTHING)
    assert outcome.title == "Not as it was"
    assert outcome.why.startswith("2 of 32 figures moved more than chance explains")
    assert outcome.why.endswith("The P-Rule is not one of them.")
    assert outcome.furthest[0] == ("Accuracy", "71.4% → 73.8%")


def test_the_headline_says_what_moved_whatever_became_of_what_is_required(law, found):
    shifted = watch(law.model, law.batch.assign(lsat=law.batch["lsat"] - 8))
    moved = outcome_of(shifted, NOTHING).why
    for required, kind, state in (
        (Requirements(changed=0.9), "holds", "still true. On these people the requirement holds."),
        (Requirements(changed=0.0001), "broken", "not true, as before. At most 0.01% of the decisions changed: failed"),
    ):
        rows = checked(shifted, required)
        outcome = outcome_of(shifted, rows)
        assert (outcome.kind, outcome.title) == (kind, "Not as it was")
        assert outcome.why.startswith(f"{moved} What is required: {state}")
        assert outcome_of(shifted, rows, nightly=True).title != "Not as it was"  # some night a figure moves by chance


def test_a_count_that_chance_may_explain_says_so(found):
    figures = moved_by(found, 0.0, 0.05).figures
    near = figures["figure"].eq("accuracy")
    figures.loc[near, ["difference", "low", "high", "moved"]] = [0.05, 0.001, 0.099, True]
    outcome = outcome_of(replace(found, figures=figures), NOTHING)
    assert outcome.title == "Still true"
    assert outcome.why.endswith("and none moved far enough to stand out among so many.")


def test_a_group_of_a_few_people_settles_nothing(law):
    few = watch(law.model, law.batch.groupby("race", group_keys=False).head(20))
    outcome = outcome_of(few, NOTHING)
    assert (outcome.kind, outcome.title) == ("unknown", "Cannot tell")
    assert "too few new people of" in outcome.why
    assert "4 times in 5" not in outcome.why
