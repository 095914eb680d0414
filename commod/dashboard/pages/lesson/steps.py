"""The steps of the lesson: what is said, asked and checked. Every figure comes from a model that is trained here.

Without Streamlit: the Lesson page and the teacher's notes read the same steps. In the texts ``[[p_rule]]`` stands for a
word of the glossary, ``[[p_rule|its name]]`` for the same under another name, and ``**bold**`` for bold.
"""

from __future__ import annotations

from dataclasses import replace

from commod.dashboard.jobs.results import FitResult
from commod.dashboard.pages.lesson.parts import (
    Answer,
    Question,
    Stage,
    Step,
    figure,
    group_table,
    label_rule,
    level_share,
    losses,
    mistaken,
    one_sided,
    strongest_concept,
)
from commod.dashboard.state.settings import defaults

LAW = replace(defaults("law_school"), lambda_fair=0.0)
COMPAS = replace(defaults("compas"), lambda_fair=0.0)
# Below this, two figures of mistreatment are called the same.
SAME = 0.01


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _changed(result: FitResult) -> int:
    return int(result.changed_test.sum())


def _interval(result: FitResult, name: str) -> str:
    row = result.figures.loc[name]
    return f"{row['g_low']:.2f} to {row['g_high']:.2f}"


# ---- 1 ----


def _groups_text(at: Stage) -> list[str]:
    spec, n = at.before.task.spec, len(at.before.changed_test)
    return [
        f"A law school wants to know early which {spec.people} will pass the bar exam. [[f]] learnt it from those of "
        "earlier years: test scores, grades, family income, school. It was never told anybody's race.",
        f"Here are {n:,} {spec.people} of the [[test|test part]], whom f has not seen. (The file was balanced: as many "
        "who passed as who did not. In life, most pass.) Before we ask whether f is fair, let us see what it does, and "
        "to whom.",
    ]


def _groups_question(at: Stage) -> Question:
    table = group_table(at.before)
    first, second = table["group"]
    return Question(
        f"Of 100 {second} students, f says of {100 * table['positive'][1]:.0f} that they will pass. "
        f"Of 100 {first} students, of how many does it say so?",
        "of 100",
        100,
    )


def _groups_answer(at: Stage) -> Answer:
    table = group_table(at.before)
    value = round(100 * table["positive"][0])
    return Answer(value, f"Of 100 {table['group'][0]} students, f says of **{value}** that they will pass.", near=5)


def _groups_told(at: Stage) -> list[str]:
    table = group_table(at.before)
    low, high = table["positive"].min(), table["positive"].max()
    return [
        f"The smaller rate over the larger is the [[p_rule]]: {100 * low:.0f} over {100 * high:.0f} is "
        f"**{figure(at.before, 'p_rule'):.2f}**. At 1, f would say it equally often of both groups: "
        "[[demographic_parity|demographic parity]].",
        f"The [[label|labels]] differ too, but by less: in these data {_percent(table['base_rate'][0])} against "
        f"{_percent(table['base_rate'][1])} did pass ([[base_rate|base rate]]). f makes the difference larger than it "
        "is.",
    ]


# ---- 2 ----


def _fair_text(at: Stage) -> list[str]:
    return [
        "f was checked at great cost, so we do not train another model. We correct it: [[g]] multiplies the "
        "[[score|score]] of f by a [[ratio|ratio r]] that depends on the person. The slider [[lambda_fair]], from 0 to "
        "10, says how much fairness counts; at 0, g is f.",
        "g does not see anybody's race either. It was trained against an opponent that tries to guess the "
        "[[group|group]] from the score: the worse it guesses, the better.",
    ]


def _fair_question(at: Stage) -> Question:
    table = group_table(at.before)
    name, n = table["group"][0], int(table["people"][0])
    passed = round(table["positive"][0] * n)
    return Question(
        f"f expects {passed} of the {n} {name} students to pass. How many more of them will g expect to pass at "
        f"λ_fair = {at.step.end.lambda_fair:g}?",
        "more students",
        n,
    )


def _fair_answer(at: Stage) -> Answer:
    row = at.after.changes.loc[0]
    value = int(row["raised"] - row["lowered"])
    return Answer(
        value,
        f"**{value} more**: of {row['raised']:.0f} {at.after.task.groups[0]} students it is now said that they will "
        f"pass, and of {row['lowered']:.0f} no longer.",
        near=15,
    )


def _fair_told(at: Stage) -> list[str]:
    result = at.after
    other = result.changes.loc[1]
    lost = 100 * (figure(result, "accuracy", "f") - figure(result, "accuracy"))
    return [
        f"[[p_rule]] went from {figure(result, 'p_rule', 'f'):.2f} to **{figure(result, 'p_rule'):.2f}**; "
        f"{lost:.1f} points of [[accuracy|accuracy]] were paid for it, and {_changed(result)} decisions of "
        f"{len(result.changed_test):,} changed ([[interval|in brackets: how sure that is]]).",
        f"And {other['changed']:.0f} {result.task.groups[1]} students changed as well ({other['raised']:.0f} up, "
        f"{other['lowered']:.0f} down). g cannot act on race, only on what goes with it: whoever looks alike is "
        "treated alike. Try other values: where does it begin?",
    ]


# ---- 3 ----


def _near_text(at: Stage) -> list[str]:
    return [
        f"At λ_fair = {at.step.start.lambda_fair:g}, g changes {_changed(at.before)} decisions. Each of them is a "
        "person who is told something else now, and each has to be explained.",
        "[[lambda_ratio]] is the brake: the larger it is, the more it costs to move the [[ratio|ratio r]] away from 1, "
        "where g is f. The same wish for fairness then has to make do with less.",
    ]


def _near_question(at: Stage) -> Question:
    changed = _changed(at.before)
    return Question(
        f"λ_ratio goes from {at.step.start.lambda_ratio:g} to {at.step.end.lambda_ratio:g}, six times as much. "
        f"How many decisions does g change then, instead of {changed}?",
        "decisions",
        4 * changed,
    )


def _near_answer(at: Stage) -> Answer:
    value = _changed(at.after)
    return Answer(value, f"g changes **{value}** decisions.", near=10)


def _near_told(at: Stage) -> list[str]:
    before, after = at.before, at.after
    few, many = _changed(after), _changed(before)
    same = int((after.changed_test & before.changed_test).sum())
    return [
        f"{many - few} decisions fewer, and [[p_rule]] is {figure(after, 'p_rule'):.2f} instead of "
        f"{figure(before, 'p_rule'):.2f}. Accuracy comes back: {figure(after, 'accuracy'):.1%} instead of "
        f"{figure(before, 'accuracy'):.1%}.",
        f"{'All' if same == few else f'{same} of the'} {few} were among the {many} before. Here the brake left people "
        "out and took nobody new; further from f that need not be so, and the page Saved runs shows it for any two "
        "models.",
    ]


# ---- 4 ----


def _cheap_text(at: Stage) -> list[str]:
    table = group_table(at.before)
    (one, two), (n, m) = table["group"], table["people"]
    return [
        "Another data set. COMPAS: will a defendant be charged again within two years? Here a positive decision is "
        "**bad** for the person.",
        f"f says “charged again” of {_percent(table['positive'][0])} of the {n:,} defendants who are {one.lower()} and "
        f"of {_percent(table['positive'][1])} of the {m:,} who are {two}: [[p_rule]] "
        f"{figure(at.before, 'p_rule', 'f'):.2f}. Two rates can be brought together by saying it of fewer people in "
        "the one group, or of more in the other.",
    ]


def _cheap_question(at: Stage) -> Question:
    changed = _changed(at.after)
    return Question(
        f"At λ_fair = {at.step.end.lambda_fair:g}, P-Rule rises to {figure(at.after, 'p_rule'):.2f}, and {changed} "
        "decisions change. How many of these changes are bad for the person (now “charged again”)?",
        f"of {changed}",
        changed,
    )


def _cheap_answer(at: Stage) -> Answer:
    value, changed = losses(at.after), _changed(at.after)
    return Answer(value, f"**{value} of {changed}** defendants get the worse decision.", near=5)


def _cheap_told(at: Stage) -> list[str]:
    result = at.after
    level = figure(result, "p_rule")
    (low, more), (high, fewer) = one_sided(result, level)
    of_low, of_high = (result.changes.loc[list(result.task.groups).index(name)] for name in (low, high))
    return [
        f"The gap closed because **g says “charged again” of {of_low['raised']:.0f} more {low} defendants**, not "
        f"because others were spared: only {of_low['lowered'] + of_high['lowered']:.0f} were. Another "
        f"{of_high['raised']:.0f} of the worse decisions fall on the other group, where they even widen the gap: g "
        "cannot see the group, and catches whoever looks alike.",
        f"Why that way? Count. With everybody's group known, a P-Rule of {level:.2f} takes {more} worse decisions for "
        f"{low} defendants, or {fewer} better ones for the others. The first group is smaller and its rate lower, so "
        "each change there moves the ratio of the two rates further. Who asks for few changes is pushed that way.",
        "P-Rule is the same in both cases. The cheapest fairness is not the fairest to look at.",
    ]


# ---- 5 ----


def _conflict_text(at: Stage) -> list[str]:
    result, start = at.before, at.step.start
    return [
        "So far fair meant [[demographic_parity|demographic parity]]: equal rates for both groups. "
        "[[equalized_odds|Equalized odds]] asks for something else: equal rates among those who **were** charged "
        "again, and among those who were not. [[dm|Disparate mistreatment]] measures by how much that fails; 0 is "
        "fair.",
        f"COMPAS again, with a looser brake (λ_ratio {start.lambda_ratio:g}), trained for demographic parity up to "
        f"λ_fair = {start.lambda_fair:g}: P-Rule is {figure(result, 'p_rule'):.2f} "
        f"(f: {figure(result, 'p_rule', 'f'):.2f}) and mistreatment {figure(result, 'dm'):.2f} "
        f"(f: {figure(result, 'dm', 'f'):.2f}). Up to here, both got better together.",
    ]


CONFLICT_OPTIONS = ("falls further", "stays the same", "rises again")


def _conflict_question(at: Stage) -> Question:
    return Question(
        f"Go on to λ_fair = {at.step.end.lambda_fair:g}: P-Rule rises further. What does mistreatment do?",
        options=CONFLICT_OPTIONS,
    )


def _conflict_answer(at: Stage) -> Answer:
    before, after = (figure(result, "dm") for result in (at.before, at.after))
    option = CONFLICT_OPTIONS[0 if after < before - SAME else 2 if after > before + SAME else 1]
    row = at.after.figures.loc["dm"]
    chance = row["g_low"] <= before <= row["g_high"]
    return Answer(
        option,
        f"On these people it **{option}**: from {before:.2f} to {after:.2f}.",
        also=(CONFLICT_OPTIONS[1],) if chance else (),
    )


def _conflict_told(at: Stage) -> list[str]:
    before, after, other = at.before, at.after, at.instead(fairness="equalized_odds")
    table, rule = group_table(after), label_rule(after)
    said = [
        f"P-Rule went on from {figure(before, 'p_rule'):.2f} to {figure(after, 'p_rule'):.2f}, while mistreatment no "
        f"longer falls. ([[interval|95 % interval]] {_interval(after, 'dm')}: the turn itself may be chance.) Trained "
        f"for equalized odds instead, λ_fair = {at.step.end.lambda_fair:g} gives P-Rule {figure(other, 'p_rule'):.2f} "
        f"and mistreatment {figure(other, 'dm'):.2f}.",
        f"The conflict is not chance, and no fault of the method. Of the {table['group'][0]} defendants "
        f"{_percent(table['base_rate'][0])} were charged again, of the {table['group'][1]} "
        f"{_percent(table['base_rate'][1])}. **A model that is always right** has mistreatment 0 and P-Rule "
        f"{rule:.2f}: perfect by one measure, unfair by the other. Where [[base_rate|base rates]] differ, only a model "
        "that tells nobody apart is fair by both.",
    ]
    if figure(before, "dm") < figure(other, "dm") and figure(before, "p_rule") > figure(other, "p_rule"):
        said.append(
            "Look at the picture again: the model you began with is better by both measures than the one trained for "
            "equalized odds. What one trains for, and what one gets on few people, are two things."
        )
    return said


# ---- 6 ----


def _concept_text(at: Stage) -> list[str]:
    result = at.before
    name = strongest_concept(result)
    parts = result.loadings[(result.loadings["concept"] == name) & (result.loadings["loading"] > 0)]["label"].head(3)
    return [
        "Why are just these people changed? The [[ratio|ratio r]] is a sum of a few [[concept|concepts]], each a "
        "handful of features that go together. A concept with a negative weight “[[takes_back|takes back]]” what f "
        "decided, for those who show it.",
        f"COMPAS once more, at λ_fair = {at.step.start.lambda_fair:g}. One of the {at.step.start.k} concepts is mostly "
        f"this: {', '.join(f'“{part}”' for part in parts)}.",
    ]


def _concept_question(at: Stage) -> Question:
    result = at.before
    row = result.concepts.loc[strongest_concept(result)]
    return Question(
        f"Of all defendants g changes {_percent(result.changed_test.mean())}. Of the {row['activated']} who show this "
        "concept most, how many per cent?",
        "per cent",
        100,
    )


def _concept_answer(at: Stage) -> Answer:
    row = at.before.concepts.loc[strongest_concept(at.before)]
    value = round(100 * float(row["changed_activated"]))
    others = 100 * float(row["changed_others"])
    return Answer(value, f"**{value} per cent**, against {others:.1f} per cent of the others.", near=10)


def _concept_told(at: Stage) -> list[str]:
    result = at.before
    name = strongest_concept(result)
    first = result.loadings[result.loadings["concept"] == name].iloc[0]
    shares = level_share(result, str(first["feature"]))
    said = []
    if shares is not None:
        said.append(
            f"Why this charge? It tells the groups apart: of those with “{first['label']}” {_percent(shares[0])} are "
            f"{result.task.groups[1]}, of all defendants {_percent(shares[1])}. A concept can be a stand-in for the "
            "[[group|group]]. That can be read here, and must be talked about."
        )
    said.append(
        f"It is {name} below. Now move [[k]], the number of concepts: they are cut and numbered anew, and the same "
        f"{_changed(result)} decisions change. k is how finely one reads the model, not another model."
    )
    return said


# ---- 7 ----


def _shap_text(at: Stage) -> list[str]:
    result = at.before
    used = result.loadings.loc[result.loadings["loading"] != 0, "feature"].str.partition("=")[0].nunique()
    total = len(result.task.spec.features)
    return [
        "Back to the law school. The concepts are the model itself: they are [[built_in|built in]]. One can also take "
        "any two models and ask afterwards, [[built_in|post hoc]], what made the difference. The best known way is "
        "[[shap]].",
        f"The ratio r of this g uses {used} of the {total} features; the others have no weight in it at all.",
    ]


def _shap_question(at: Stage) -> Question:
    total = len(at.before.task.spec.features)
    return Question(
        f"SHAP looks at f and g from outside. To how many of the {total} features does it give a part in the change?",
        f"of {total}",
        total,
    )


def _shap_answer(at: Stage) -> Answer:
    features = at.shap.features
    value = int((features["shap"] > 1e-6).sum())
    return Answer(value, f"SHAP names **{value} of {len(features)}**.")


def _shap_told(at: Stage) -> list[str]:
    features = at.shap.features
    ranks, own = (features[name].rank(ascending=False) for name in ("shap", "commod"))
    most = (own - ranks).idxmax()
    return [
        f"The largest disagreement: “{features.loc[most, 'label']}” is number {ranks[most]:.0f} for SHAP and number "
        f"{own[most]:.0f} in the model. [[agreement|Rank agreement]] of the two is {at.shap.agreement:.2f}. SHAP is "
        "not wrong: it shares out the change of the score, and the score of f, which is multiplied, depends on every "
        "feature. But it answers another question than “what does g look at?”.",
        f"It also depends on the sample of people it compares with: drawn {at.shap.redraws} times, its bars move (the "
        "thin lines). And it has to be computed, where the concepts are only read.",
    ]


# ---- 8 ----


def _blind_text(at: Stage) -> list[str]:
    result = at.before
    return [
        f"The model of step 2 once more: P-Rule {figure(result, 'p_rule'):.2f} instead of "
        f"{figure(result, 'p_rule', 'f'):.2f}, by changing {_changed(result)} decisions.",
        "Every figure so far compares averages of groups. Let us ask about the people instead. For each of them there "
        "is a [[label|label]]: whether they did pass the bar later.",
    ]


def _blind_question(at: Stage) -> Question:
    changed = _changed(at.before)
    return Question(
        f"Of the {changed} changed decisions, how many are right now, by the label, and were wrong before?",
        f"of {changed}",
        changed,
    )


def _blind_answer(at: Stage) -> Answer:
    (better, worse), changed = mistaken(at.before), _changed(at.before)
    value = changed - better - worse
    return Answer(value, f"**{value} of {changed}**; the other {changed - value} were right before.", near=10)


def _blind_told(at: Stage) -> list[str]:
    better, worse = mistaken(at.before)
    return [
        f"By the label, {better + worse} decisions are wrong now that were right: {better} in favour of the person "
        "(who "
        f"then did not pass), {worse} against (who did). Is that unjust? The figures do not say. The label says who "
        "passed an exam, not who would have made a good lawyer, nor what they had to overcome; and a model that "
        "repeats the past perfectly is perfect by this count.",
        "Nor do they say whether the decision should be made by a model, what becomes of the people afterwards, who is "
        "missing from the data, or which of two definitions of fair is meant. These have to be decided before a slider "
        "is moved, and not by the one who moves it alone.",
    ]


STEPS: tuple[Step, ...] = (
    Step(
        name="groups",
        title="What f does, and to whom",
        minutes=6,
        start=LAW,
        text=_groups_text,
        question=_groups_question,
        answer=_groups_answer,
        shows=("groups",),
        told=_groups_told,
        talk=(
            "Is the gap in the model, in the labels, or in the world?",
            "What would you want to know about the data?",
        ),
        teacher="Group sizes and rates before any talk of fairness. Collect all guesses on the board first. "
        "Let somebody say that f never saw race, and ask how it can tell.",
        pages=("pages/data.py",),
    ),
    Step(
        name="fairness",
        title="Buy some fairness",
        minutes=9,
        start=LAW,
        goal=(("lambda_fair", 3.0),),
        text=_fair_text,
        question=_fair_question,
        answer=_fair_answer,
        shows=("figures", "changes"),
        told=_fair_told,
        talk=("Who pays for it, and with what?", "Would you tell the students whose decision changed? What?"),
        teacher="One slider, one price. Up to λ_fair = 1 nothing happens: r moves, but crosses 0 for nobody. Let them "
        "find that, and say why: a decision changes only where r falls below 0.",
        pages=("app.py", "pages/people.py"),
    ),
    Step(
        name="near",
        title="Keep what was checked",
        minutes=7,
        start=replace(LAW, lambda_fair=3.0),
        goal=(("lambda_ratio", 0.3),),
        text=_near_text,
        question=_near_question,
        answer=_near_answer,
        shows=("figures",),
        told=_near_told,
        talk=("What is a change of decision worth, in your field?", "Who decides where this slider stands?"),
        teacher="The brake. Whoever divides by six should say what would have to be true for that. Then ask who was "
        "left out: those whose r was only just below 0.",
        pages=("pages/limits.py",),
    ),
    Step(
        name="cheap",
        title="The cheapest fairness",
        minutes=9,
        start=COMPAS,
        goal=(("lambda_fair", 4.0),),
        text=_cheap_text,
        question=_cheap_question,
        answer=_cheap_answer,
        shows=("figures", "changes"),
        told=_cheap_told,
        talk=(
            "Is it fairer if more people are suspected, as long as it is as many of each group?",
            "What would you measure instead?",
        ),
        teacher="The turning point of the hour. Ask for a show of hands before the check: will people be spared, or "
        "will others be treated worse?",
        pages=("pages/people.py", "pages/limits.py"),
    ),
    Step(
        name="conflict",
        title="Two kinds of fair",
        minutes=9,
        start=replace(COMPAS, lambda_fair=6.0, lambda_ratio=0.02),
        goal=(("lambda_fair", 10.0),),
        text=_conflict_text,
        question=_conflict_question,
        answer=_conflict_answer,
        shows=("conflict",),
        told=_conflict_told,
        talk=("Which of the two would you want as a defendant? As a judge? As a legislator?",),
        teacher="First both measures improve together, then they part. The dot of the model that is always right is "
        "the "
        "whole argument: let them find out why it is not at P-Rule 1.",
        pages=("app.py",),
    ),
    Step(
        name="concept",
        title="Read a concept",
        minutes=8,
        start=defaults("compas"),
        free=("k",),
        text=_concept_text,
        question=_concept_question,
        answer=_concept_answer,
        shows=("concepts",),
        told=_concept_told,
        talk=("Would you sign this reason? Would a court?", "Which concept would you forbid?"),
        teacher="An explanation that can be read is one that can be objected to. This concept can stand in for the "
        "group, which is seen only because it can be read. Let them move k, and say what stays.",
        pages=("pages/what_if.py",),
    ),
    Step(
        name="posthoc",
        title="Asked afterwards, or built in",
        minutes=6,
        start=defaults("law_school"),
        text=_shap_text,
        question=_shap_question,
        answer=_shap_answer,
        shows=("shap",),
        told=_shap_told,
        talk=("Which of the two accounts would you print into a letter to a student?",),
        teacher="SHAP is not the villain: it answers another question. What matters is that there are two accounts of "
        "one change, and that only one of them is the model.",
        pages=("app.py",),
    ),
    Step(
        name="blind",
        title="What the figures cannot tell",
        minutes=6,
        start=defaults("law_school"),
        text=_blind_text,
        question=_blind_question,
        answer=_blind_answer,
        shows=("figures",),
        told=_blind_told,
        talk=(
            "Name one thing you would have to ask somebody, and whom.",
            "Which sentence of today would you tell a colleague?",
        ),
        teacher="Close with people, not with points. Do not let the hour end on “the model is worse”: the label is "
        "what "
        "was recorded.",
        pages=("pages/people.py", "pages/data.py"),
    ),
)
