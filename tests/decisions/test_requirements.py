"""Requirements: whatever is sent gives requirements or one sentence, and text and JSON give back what they say."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commod.decisions import RULES, Requirements, RequirementsError

pytestmark = pytest.mark.quick

LIMITS = {name: st.none() | st.floats(0, rule.most).map(lambda x: round(x, 6)) for name, rule in RULES.items()}
SOME = st.builds(
    Requirements,
    **LIMITS,
    kept_out=st.lists(st.sampled_from(["age", "a,b;c:d", "%2C", " é ", "😀"]), max_size=4).map(tuple),
    direction=st.sampled_from(["", "improve", "worsen"]),
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=40)
@given(SOME)
def test_text_and_json_give_them_back(requirements):
    assert Requirements.from_text(requirements.text) == requirements
    assert Requirements.from_plain(json.loads(json.dumps(requirements.plain))) == requirements
    assert bool(requirements) == bool(requirements.text)
    assert len(requirements.in_words) == len(requirements.plain)


@given(st.dictionaries(st.sampled_from([*RULES, "kept_out", "direction", "moon"]), ANYTHING, max_size=3) | ANYTHING)
def test_whatever_json_is_sent(content):
    _valid_or_one_sentence(lambda: Requirements.from_plain(content))


@given(st.text(max_size=40) | st.lists(st.sampled_from([*RULES, ":", ";", "1", "nan", "-1", "kept_out"])).map("".join))
def test_whatever_text_is_sent(text):
    _valid_or_one_sentence(lambda: Requirements.from_text(text))


def _valid_or_one_sentence(read):
    said, found = "", Requirements()
    try:
        found = read()
    except RequirementsError as error:
        said = str(error)
    assert said == "" or (said.endswith(".") and "\n" not in said)
    assert Requirements.from_text(found.text).limits.keys() == found.limits.keys()


@pytest.mark.parametrize("text", ["p_rule:2", "p_rule:-0.1", "p_rule:nan", "p_rule:", "dm:inf", "p_rule:.8;p_rule:.9"])
def test_limits_out_of_range_are_refused(text):
    with pytest.raises(RequirementsError, match="P-Rule|Mistreatment|twice"):
        Requirements.from_text(text)


def test_in_words():
    asked = Requirements(p_rule=0.8, changed=0.05, worse_off=0, kept_out=("sex", "age"), direction="improve")
    assert asked.in_words == [
        "a P-Rule of 0.8 or more",
        "at most 5% of the decisions changed",
        "nobody worse off",
        "age, sex kept out of the update",
        "an update by which nobody can lose",
    ]
    assert Requirements(worse_off=0.01).in_words == ["at most 1% of the people worse off"]
    assert not Requirements()
    assert Requirements(worse_off=0)  # nobody is a requirement, too


def test_every_rule_can_be_required_at_its_default():
    for name, rule in RULES.items():
        asked = Requirements(**{name: rule.default})
        assert asked.limits == {name: rule.default}
        assert rule.is_met(rule.default, rule.default)
        assert not rule.is_met(rule.default - 0.01 * rule.sign, rule.default)


def test_no_minus_stands_before_nothing():
    lost = RULES["accuracy_lost"]
    assert [lost.show(value) for value in (-0.0001, 0.0, -0.012, 0.02)] == ["0.0%", "0.0%", "−1.2%", "2.0%"]
