"""The Decide page, headless."""

import html
import itertools
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from msgspec import convert

from commod.dashboard.jobs import service, tasks
from commod.dashboard.model.training import fit_result
from commod.dashboard.pages.decide import models, sign
from commod.dashboard.pages.decide.sign import NO_REASON, NOT_KEPT
from commod.dashboard.pages.decide.verdict import TABLE, _together, answer_in_words, worth_knowing
from commod.dashboard.state.settings import defaults
from commod.dashboard.text.verdicts import verdict_in_words
from commod.dashboard.views.methods import form_of, keeping
from commod.datasets import load_task
from commod.decisions import (
    Facts,
    Requirements,
    check_requirements,
    facts_of,
    facts_of_f,
    make_record,
    read_record,
    record_json,
    requirements_in,
    verify_record,
)
from commod.decisions.record import Signature
from commod.experiments import prepare
from tests.dashboard.driving import captions, fine, forget, run, tables, words
from tests.dashboard.hostile import let_through

PAGE = "pages/decide.py"
METHODS = "commod,oracle_roc"


def press(app, label):
    return fine(next(button for button in app.button if button.label.startswith(label)).click().run())


@pytest.fixture(scope="module")
def decided():
    """Some requirements, and two methods that are quick; the model on the screen alone is refitted. To look at."""
    forget(tasks.refits_of_model)
    return fine(run(PAGE, req="p_rule:0.5;changed:0.2;worse_off:0", methods=METHODS))


def test_without_a_requirement_the_page_says_what_to_do_and_shows_an_example():
    app = fine(run(PAGE, methods=METHODS))
    assert TABLE not in tables(app)
    press(app, "Begin with an example")
    assert app.query_params["req"] == "p_rule:0.8"
    assert app.number_input(key="required_p_rule").value == 0.8
    assert "**It does not meet the one requirement.**" in words(app)


def test_links_of_older_versions_with_answers_to_pairs_open():
    app = fine(run(PAGE, methods=METHODS, pairs="0a1b2cabnsa"))
    assert not app.warning
    assert "pairs" not in app.query_params


def test_a_requirement_is_switched_on_and_given_a_number():
    app = fine(run(PAGE, methods="commod"))
    fine(app.pills(key="required").set_value(["changed"]).run())
    assert app.query_params["req"] == "changed:0.08"
    fine(app.number_input(key="required_changed").set_value(20.0).run())
    assert app.query_params["req"] == "changed:0.2"
    assert "**It meets the one requirement.**" in words(app)
    fine(app.pills(key="required").set_value([]).run())
    assert "req" not in app.query_params


def judged(app):
    """The cells of each model, by heading."""
    (headings,) = re.findall(
        rf'aria-label="{TABLE}"><table.*?<thead>(.*?)</thead>',
        "".join(element.proto.body for element in app.markdown),
        re.S,
    )
    names = [html.unescape(name) for name in re.findall(r"<th[^>]*>(.*?)</th>", headings, re.S)][1:]
    return {row[0]: dict(zip(names, row[1:], strict=True)) for row in tables(app)[TABLE]}


def test_every_model_is_judged_by_every_requirement(decided):
    app, found = decided, judged(decided)
    screen, f, best, rival = found.values()
    assert [row.partition("<small>")[0] for row in found] == [
        "On your screen",
        "f, as it is",
        "COMMOD (multiply), best",
        "Oracle ROC ○",
    ]
    assert list(screen) == [
        "All together",
        "A P-Rule of 0.5 or more",
        "At most 20% of the decisions changed",
        "Nobody worse off",
        "Decisions changed",
        "Accuracy",
        "Four-fifths rule: P-Rule of the favourable decision, “passes the bar”",
    ]
    assert "0.0% for everyone" in f["Nobody worse off"]
    assert "<strong>✗ fail</strong>" in screen["Nobody worse off"]
    assert "with other training rows" in words(app)  # of the model on the screen
    assert not any("refits [" in row["A P-Rule of 0.5 or more"] for row in (best, rival))
    assert "chosen on the people it is judged on" in captions(app)
    assert "Does another model do better?" in [header.value for header in app.header]
    assert re.search(r"We searched \d+ models of 2 methods\.", captions(app))
    assert "not legal advice" in captions(app).lower()


@pytest.mark.slow
def test_four_groups_are_judged_as_two_are():
    app = fine(
        run(PAGE, data="law_school", groups="race_sex", req="p_rule:0.8;right:0.5;again:0.8", methods="commod,lpp")
    )
    f = judged(app)["f, as it is"]
    assert "<strong>✗ fail</strong>" in f["A P-Rule of 0.8 or more"]
    assert "meets 0 of 1 that applies" in f["All together"]
    for wanted in (
        "At least 50% of the changes agree with the record",
        "At least 80% of the changes survive retraining",
    ):
        assert "<strong>– does not apply</strong>" in f[wanted]
    fill(app, who="Ada", role="head", why="So.")
    press(app, "Sign")
    assert read_record(record_json(record_of(app)))["data"]["name"] == "law_school.race_sex"


@pytest.mark.slow  # Compare refits the others, too
def test_the_others_are_refitted_if_somebody_asks():
    forget(tasks.refits_of_model)  # else there is nothing to ask for
    app = press(fine(run(PAGE, req="p_rule:0.5", methods=METHODS)), "Refit the others, too")
    _, _, *others = judged(app).values()
    assert all("refits [" in row["A P-Rule of 0.5 or more"] for row in others)
    assert not [button for button in app.button if button.label == "Refit the others, too"]


def test_what_is_waited_for_goes_on_while_numbers_are_changed(monkeypatch):
    """Each run of the script gives up its places in the queue; those that go on are not begun again."""
    started, kept = [], {}
    monkeypatch.setattr(service, "submit", lambda task: started.append(task.kind) or Held())
    monkeypatch.setattr(service, "_kept", lambda: kept)
    settings = defaults("german")
    wanted = [tasks.sweep(settings, name) for name in ("commod", "lpp")]
    service.go_on(*wanted)
    service.go_on(*wanted)
    assert started == ["sweep_method", "sweep_method"]
    first = kept["wanted", *wanted[0].key]
    service.go_on(wanted[1])
    assert first.left
    assert [*kept] == [("wanted", *wanted[1].key)]


class Held:
    left = False

    def leave(self):
        self.left = True


def test_the_best_of_commod_is_one_click_away():
    app = fine(run(PAGE, req="changed:0.02", methods="commod", lambda_fair="4"))
    press(app, "Take this setting")
    assert app.query_params["lambda_fair"] == "0"
    assert "meets the one requirement" in words(app)
    assert not [button for button in app.button if button.label == "Take this setting"]


@pytest.mark.slow
def test_the_best_is_of_the_form_in_use():
    app = fine(run(PAGE, data="german", req="changed:0.02", methods="bayes", update="decisions", lambda_fair="10"))
    assert "COMMOD (count changes) at λ_fair" in words(app)
    press(app, "Take this setting")
    assert app.query_params["update"] == "decisions"
    assert app.query_params["lambda_fair"] != "10"
    assert "meets the one requirement" in words(app)


def test_features_and_direction_are_settings_and_one_click_keeps_them():
    app = fine(run(PAGE, req="kept_out:lsat;direction:improve", methods="commod"))
    assert "fails both requirements." in words(app)
    press(app, "Train it so: keep these features out and nobody can lose")
    assert app.query_params["without"] == "lsat"
    assert app.query_params["direction"] == "improve"
    assert "meets both requirements" in words(app)


def test_commods_sweep_is_limited_as_the_requirements_say():
    settings = defaults("law_school")
    assert form_of(settings, Requirements(p_rule=0.8)) == ()
    form = dict(form_of(settings, Requirements(kept_out=("lsat",), direction="improve")))
    assert form["direction"] == "improve"
    assert "lsat" not in form["features"]
    assert keeping(settings, Requirements()) == settings


def test_the_sentence_counts_what_is_met():
    facts = facts_of_f(prepare("law_school"))

    def told(**asked):
        return verdict_in_words(check_requirements(Requirements(**asked), facts), facts.people, "f")

    assert told(changed=0.1) == "f meets the one requirement."
    assert told(changed=0.1, worse_off=0) == "f meets both requirements."
    assert told(changed=0.1, p_rule=0.8) == "f meets 1 of 2 requirements; fails 1."
    assert told(p_rule=0.8, dm=0.0) == "f fails both requirements."
    assert told(p_rule=0.8, right=0.5) == (
        "f does not meet the one requirement that applies; 1 does not apply, as nobody's decision changes."
    )
    assert told(changed=0.1, worse_off=0, right=0.5, sure=0.1) == (
        "f meets both requirements that apply; 2 do not apply, as nobody's decision changes."
    )
    assert told(again=0.8) == "Nothing that is required applies to f: nobody's decision changes."
    assert told(p_rule=0.25) == "f may or may not meet the one requirement; it cannot be determined with 1,376 people."
    changing = replace(facts, better=1)  # without refits
    untold = check_requirements(Requirements(changed=0.1, again=0.8), changing)
    assert verdict_in_words(untold, 1376, "g") == "g meets 1 of 2 requirements; 1 cannot be determined."
    assert told(p_rule=0.25, changed=0.1) == "f meets 1 of 2 requirements; 1 cannot be determined with 1,376 people."


def test_what_is_not_required_is_told_where_it_speaks_against_the_changes():
    answers = fit_result(defaults("law_school")).answers()
    right, sure = answers["right"], answers["sure"]
    assert (right.mark, sure.mark) == ("predicted", "bad")
    assert worth_knowing(answers, Requirements(p_rule=0.8)) == sure.sentence
    right = replace(right, rated=-0.1)
    answers |= {"right": right}
    assert worth_knowing(answers, Requirements(p_rule=0.8)) == f"{right.sentence} {sure.sentence}"
    assert worth_knowing(answers, Requirements(right=0.5)) == sure.sentence
    assert worth_knowing({"right": right, "sure": replace(sure, value=0.0)}, Requirements(right=0.5)) == ""


def test_what_takes_refits_is_said_to_come(monkeypatch):
    result = fit_result(defaults("law_school"))
    monkeypatch.setattr(models, "refits_of_screen", lambda result: None)
    (sentence,) = models.on_screen(result, Requirements(again=0.8)).checked["sentence"]
    assert sentence == "It takes refits to tell, and they are being computed."


# ---- signing ----


def candidate(name, verdicts, better=0, collapse=""):
    facts = Facts({}, 1000, better, 0)
    checked = pd.DataFrame({"value": 0.5, "verdict": verdicts})
    return models.Candidate(name, name, "", None, np.zeros(0), facts, checked, collapse)


def test_a_collapsed_model_is_called_so_beside_what_it_meets():
    one = candidate("lpp", ["pass"], collapse="It decides everybody alike.")
    assert sign.standing(one, "It") == "It meets the one requirement. It decides everybody alike."


def test_what_is_not_known_is_counted():
    assert _together(candidate("lpp", ["cannot tell", "pass"]))[1:] == (
        "? cannot tell",
        "meets 1 of 2 for certain\n1 not known",
    )
    assert _together(candidate("lpp", ["pass", "pass"]))[1:] == ("✓ pass", "meets 2 of 2")


def test_a_column_keeps_its_side_while_more_methods_come(monkeypatch):
    verdicts = {"lpp": "fail", "hardt": "pass", "oracle_roc": "cannot tell"}
    monkeypatch.setattr(models, "best_of", lambda settings, result, name, required: candidate(name, [verdicts[name]]))
    result, seen = fit_result(defaults("law_school")), []
    for count in range(1, len(verdicts) + 1):
        sweeps = {name: name for name in list(verdicts)[::-1][:count]}
        seen.append([one.name for one in models.candidates_in_order(result.settings, result, sweeps, Requirements())])
    for fewer, more in itertools.pairwise(seen):
        assert [name for name in more if name in fewer] == fewer


def test_it_is_said_if_no_other_model_meets_everything():
    beside = [candidate("screen", ["pass"]), candidate("f", ["fail"])]
    assert answer_in_words(beside, waiting=True) == "**So far, no other model meets everything.**"


def test_a_model_that_changes_nobody_is_said_to_decide_as_f():
    best = replace(candidate("commod", ["pass"]), title="COMMOD (multiply), best")
    assert best.subject == "COMMOD (multiply)'s best (the same decisions as f)"
    assert candidate("f", ["pass"]).subject == "f"
    best = replace(candidate("commod_decisions", ["pass"], better=1), title="COMMOD (count changes), best")
    assert best.subject == "COMMOD (count changes)'s best"


def fill(app, **texts):
    for name, text in texts.items():
        box = app.text_area(key="sign_why") if name == "why" else app.text_input(key=f"sign_{name}")
        box.set_value(text)
    return fine(app.run())


def record_of(app):
    return app.session_state["held_signed"].copy().popitem()[1]


@pytest.fixture(scope="module")
def signed():
    app = fine(run(PAGE, req="p_rule:0.5;changed:0.2;worse_off:0", methods=METHODS))
    fill(app, who="Ada <b>", role="head", why="Fair [enough](//evil.example).")
    return press(app, "Sign")


def test_a_decision_needs_a_name_a_role_and_a_reason():
    app = run(PAGE, req="changed:0.2", methods="commod")
    app = next(button for button in app.button if button.label == "Sign").click().run()
    assert [error.value for error in app.error] == [
        "A decision needs a name, a role and a reason. Still empty: who decides, in what role, why."
    ]
    assert "held_signed" not in app.session_state or not app.session_state["held_signed"]


def test_what_is_signed_is_a_record_that_verifies(signed):
    app = signed
    record = read_record(record_json(record_of(app)))
    assert record["signature"]["who"] == "Ada <b>"
    assert record["requirements"] == {"p_rule": 0.5, "changed": 0.2, "worse_off": 0.0}
    assert set(record["signature"]["rejected"]) == {
        "f, as it is",
        "COMMOD (λ_fair 4, λ_ratio 0.05)",
        "Oracle ROC (margin 0.165)",
    }
    assert record["signature"]["rejected"]["f, as it is"] == f"It meets 2 of 3 requirements; fails 1. {NO_REASON}"
    assert {each["requirement"]: each["verdict"] for each in record["verdicts"]}["worse_off"] == "fail"
    assert "**Signed with 1 requirement not met** on" in words(app)
    assert not let_through(app)
    assert any(button.label == "Signed decision as JSON" for button in app.get("download_button"))
    assert "`commod verify commod-decision.json`" in captions(app)
    assert verify_record(without_refits(record), load_task("law_school"))["agrees"].all()


def without_refits(record):
    """Of these tests, whose refits are the model itself."""
    scene, result = prepare("law_school"), fit_result(defaults("law_school"))
    facts = facts_of(scene, result.decisions, result.cell)
    what = (result.cell, result.settings.fairness, requirements_in(record), facts)
    made = make_record(convert(record["signature"], Signature), scene, result.decisions, *what)
    for part in ("figures", "data", "requirements", "signature"):
        assert made[part] == record[part]
    assert made["model"] == record["model"] | {"refits": 0}
    return made


def test_what_is_typed_outlives_a_slider_and_another_page():
    app = fine(run(PAGE, req="changed:0.2", methods="commod"))
    fill(app, who="Ada", why="Because.")
    app.text_input(key="sign_why_f").set_value("too unfair")
    fine(app.run())
    fine(app.select_slider(key="set_lambda_fair").set_value(2.0).run())
    fine(app.switch_page("pages/data.py").run())
    fine(app.switch_page(PAGE).run())
    assert app.text_input(key="sign_who").value == "Ada"
    assert app.text_area(key="sign_why").value == "Because."
    assert app.text_input(key="sign_why_f").value == "too unfair"
    fine(app.selectbox(key="sign_decided").set_value("f").run())
    fill(app, role="head")
    assert NOT_KEPT in captions(app)
    fine(app.text_input(key="sign_why_screen").set_value("").run())
    press(app, "Sign")
    record = record_of(app)
    assert record["model"]["method"] == "f"
    assert all(reason.endswith(NO_REASON) for reason in record["signature"]["rejected"].values())
    assert set(record["signature"]["rejected"]) == {
        "COMMOD (λ_fair 2, λ_ratio 0.05, λ_concepts 0.05, k 2)",
    }
    fine(app.number_input(key="required_changed").set_value(10.0).run())
    assert "You signed another model than the one chosen below, or other requirements." in words(app)


@pytest.mark.slow
def test_a_decision_about_uploaded_data_goes_with_them():
    app = run("pages/your_data.py")
    for label in ("Open it here", "Use these data"):
        press(app, label)
    app.query_params["methods"] = "commod"
    fine(app.switch_page(PAGE).run())
    press(app, "Begin with an example")
    fill(app, who="Ada", role="head", why="So.")
    press(app, "Sign")
    assert record_of(app)["data"]["name"].startswith("own-")
    fine(app.switch_page("pages/your_data.py").run())
    press(app, "Forget these data")
    fine(app.switch_page(PAGE).run())
    assert not any("Signed" in text for text in words(app).split("**"))
