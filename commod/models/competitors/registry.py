"""All methods of the paper's overview, declared: what each needs, what it turns, and how it is swept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import pandas as pd

from commod.installation import needs_extra
from commod.metrics.figures import CRITERIA
from commod.models.base_models import BaseModel
from commod.models.validation import check_choice
from commod.wording import listed

DP, EO = "demographic_parity", "equalized_odds"
# The title of each family of methods: what a method does to f, and what it needs to decide.
FAMILIES = {
    "blind": "Correct f without the group",
    "aware": "Correct f with the group",
    "own": "Train a model of their own",
}


@dataclass(frozen=True)
class Knob:
    """The one parameter that trades accuracy for fairness."""

    name: str  # of the constructor
    label: str
    sweep: tuple[float, ...]  # values from "as f" to fairest: the scale on which a sweep puts its own
    unchanged: float | None  # the value at which g = f, if there is one
    placed: bool = True  # whether a sweep chooses its values by its results; otherwise they are as declared


@dataclass(frozen=True)
class Method:
    """One row of the paper's overview table, or a method that it does not have, with the estimator if there is one."""

    title: str  # with † where we had a description only, not the publication or the authors' code
    reference: str
    needs_sensitive: bool = False  # whether predict needs S
    criteria: tuple[str, ...] = (DP, EO)  # what it can meet; where it is shown if it `aims_at` another
    minimises_changes: bool = False  # whether staying close to f is part of its objective
    model_agnostic: str = "yes"  # or the one kind of model it works on
    randomised: bool = False  # whether seed or lots move its decisions
    estimator: tuple[str, str] | None = None  # module and class, None while it is not written
    knob: Knob | None = None
    others: dict[str, tuple[Any, ...]] = field(default_factory=dict)  # further parameters of a sweep
    settings: dict[str, Any] = field(default_factory=dict)  # fixed ones
    seeds: int = 1  # of a sweep
    edits: bool = True  # whether it is given f
    uses_membership: bool = False  # whether it needs a person's probable group, a model that its fits can share
    cost: float = 1.0  # of a model, relative to the quickest: for the order of sweeps and the time left
    in_paper: bool = True  # whether the paper's overview has it
    note: str = ""
    groups: int | None = None  # 2 where it is published for two groups only, None where it takes any number
    weights: bool = True  # whether its fit takes a `sample_weight`
    aims_at: str = ""
    own_model: bool = False  # whether it trains a model of its own, whatever it is given
    short: str = ""  # title where there is little room, if it is another

    @property
    def family(self) -> str:
        if self.own_model:
            return "own"
        return "aware" if self.needs_sensitive else "blind"

    @property
    def short_title(self) -> str:
        return self.short or self.title

    @property
    def is_commod(self) -> bool:
        return self.estimator == _COMMOD

    @property
    def regulariser(self) -> str:
        """The setting of a sweep that sets its regularisation; empty if it has none."""
        return "lambda_concepts" if self.is_commod else "penalty" if self.uses_membership else ""

    @property
    def is_written(self) -> bool:
        return self.estimator is not None

    def takes(self, n_groups: int) -> bool:
        return self.groups is None or n_groups <= self.groups


def _competitor(module: str, name: str) -> tuple[str, str]:
    return f"commod.models.competitors.{module}", name


_COMMOD = ("commod.models.estimator", "Commod")
_LAMBDA_FAIR = Knob(
    "lambda_fair",
    "λ_fair",
    (0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0),
    0.0,
    placed=False,  # all are on the app's slider, and links name them
)
# For λ_fair as the share of the way to parity, in tenths.
_TARGET = replace(_LAMBDA_FAIR, sweep=(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 5.5, 6.0, 7.0, 8.0, 9.0, 10.0))
_STRENGTHS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_ALPHAS = (0.5, 0.3, 0.24, 0.2, 0.16, 0.13, 0.1, 0.08, 0.06, 0.04, 0.02, 0.01, 0.001)
_FRAPPE = Knob("lambda_mmd", "λ_mmd", (0.0, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0), 0.0)
_GAPS = (1.0, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.12, 0.09, 0.06, 0.03, 0.0)
_MARGINS = (0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18, 0.21, 0.25, 0.3, 0.35)
_EPSILONS_FST = (0.3, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01, 0.0)
_EPSILONS_PROJECTION = (2.0, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.12, 0.1, 0.07, 0.05, 0.02, 0.0)
_LAMBDAS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6)
_LAMBDAS_ORACLE = (0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3)
_BONUSES = (0.0, 0.05, 0.1, 0.2)

# Every method by name, COMMOD first.
METHODS: dict[str, Method] = {
    "commod": Method(
        "COMMOD",
        "Di Gennaro et al. 2025",
        minimises_changes=True,
        estimator=_COMMOD,
        knob=_LAMBDA_FAIR,
        others={"lambda_ratio": (0.0, 0.05, 0.2)},
        settings={"lambda_concepts": 0.05, "n_concepts": 2},
        cost=4.0,
    ),
    "commod_decisions": Method(
        "COMMOD (count changes)",
        "this project, 2026",
        minimises_changes=True,
        estimator=_COMMOD,
        knob=_TARGET,
        others={"lambda_ratio": (0.0, 0.05, 0.2)},
        settings={"lambda_concepts": 0.05, "n_concepts": 2, "update": "decisions"},
        cost=2.0,
        in_paper=False,
        note="COMMOD with another loss: it counts changed decisions instead of moved scores.",
    ),
    "adv_debias": Method(
        "AdvDebias",
        "Zhang et al. 2018",
        randomised=True,
        estimator=_competitor("adv_debias", "AdvDebias"),
        knob=Knob("alpha", "α", (0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0), None),
        seeds=3,
        edits=False,
        cost=50.0,
        in_paper=False,
        note="Trains a model of its own instead of editing f.",
        own_model=True,
    ),
    "frappe": Method(
        "FRAPPE",
        "Țifrea et al. 2023",
        minimises_changes=True,
        randomised=True,
        estimator=_competitor("frappe", "Frappe"),
        knob=_FRAPPE,
        settings={"architecture": "linear", "n_concepts": 2},
        note="Linear bottleneck, as COMMOD's; the seed moves its concepts, hardly its decisions.",
        cost=10.0,
    ),
    "frappe_mlp": Method(
        "FRAPPE (MLP)",
        "Țifrea et al. 2023",
        minimises_changes=True,
        randomised=True,
        estimator=_competitor("frappe", "Frappe"),
        knob=_FRAPPE,
        settings={"architecture": "mlp"},
        seeds=3,
        in_paper=False,
        note="One hidden layer: no concepts.",
        cost=20.0,
    ),
    "lpp": Method(
        "LPP",
        "Xian & Zhao 2024",
        randomised=True,
        estimator=_competitor("lpp", "LPP"),
        uses_membership=True,
        knob=Knob("alpha", "α", _ALPHAS, 1.0),
        note="By lot only for the one or two people on the threshold.",
        cost=2.0,
    ),
    "oracle_lpp": Method(
        "Oracle LPP",
        "Xian & Zhao 2024",
        needs_sensitive=True,
        randomised=True,
        estimator=_competitor("lpp", "OracleLPP"),
        knob=Knob("alpha", "α", _ALPHAS, 1.0),
        note="Ties are broken by lot; under equalized odds that can be a whole group.",
        cost=2.0,
    ),
    "oracle_roc": Method(
        "Oracle ROC",
        "Kamiran et al. 2012",
        needs_sensitive=True,
        criteria=(DP,),
        estimator=_competitor("group_thresholds", "OracleROC"),
        groups=2,
        knob=Knob("margin", "margin", _MARGINS, 0.0),
    ),
    "hardt": Method(
        "Hardt post-processing",
        "Hardt et al. 2016",
        needs_sensitive=True,
        randomised=True,
        estimator=_competitor("hardt", "EOPostProcessing"),
        weights=False,
        knob=Knob("strength", "strength", _STRENGTHS, 0.0),
        seeds=3,
        note="EO post-processing in the paper; fairlearn's solver also does demographic parity.",
        cost=4.0,
        short="Hardt",
    ),
    "pleiss": Method(
        "Information withholding",
        "Pleiss et al. 2017",
        needs_sensitive=True,
        criteria=(EO,),
        randomised=True,
        estimator=_competitor("group_thresholds", "InformationWithholding"),
        groups=2,
        knob=Knob("strength", "strength", _STRENGTHS, 0.0),
        seeds=3,
        note="Makes the cost of scores equal and keeps them calibrated; decisions may differ more than before.",
        short="Pleiss",
    ),
    "wass1": Method(
        "Wass-1 post-processing",
        "Jiang et al. 2020",
        needs_sensitive=True,
        criteria=(DP,),
        minimises_changes=True,
        randomised=True,
        estimator=_competitor("wasserstein", "Wass1PostProcessing"),
        weights=False,
        knob=Knob("strength", "strength", _STRENGTHS, 0.0),
        note="By lot only among people with equal scores.",
        cost=5.0,
        short="Wass-1",
    ),
    "fst": Method(
        "FST",
        "Wei et al. 2020",
        estimator=_competitor("projection", "FST"),
        uses_membership=True,
        knob=Knob("epsilon", "ε", _EPSILONS_FST, 1.0),
        note="Fair in the mean score, not in decisions.",
        cost=2.0,
    ),
    "fair_projection": Method(
        "FairProjection",
        "Alghamdi et al. 2022",
        minimises_changes=True,
        estimator=_competitor("projection", "FairProjection"),
        uses_membership=True,
        knob=Knob("epsilon", "ε", _EPSILONS_PROJECTION, 10.0),
        note="The paper lists it as needing S; with P(S | x) in its place it does not.",
        cost=2.0,
    ),
    "cfbc": Method(
        "CFBC",
        "Chzhen et al. 2019",
        needs_sensitive=True,
        criteria=(EO,),
        estimator=_competitor("group_thresholds", "CFBC"),
        groups=2,
        knob=Knob("strength", "strength", _STRENGTHS, 0.0),
        note="Equal opportunity: true positive rates only.",
    ),
    # ---- Of the paper's theory, not of its overview ----
    "bayes": Method(
        "Bayes rule",
        "Prop. 4.2, corrected",
        minimises_changes=True,
        estimator=_competitor("bayes", "BayesOptimal"),
        uses_membership=True,
        knob=Knob("lambda_fair", "λ_fair", _LAMBDAS, None),
        others={"lambda_ratio": _BONUSES},
        in_paper=False,
        note="Optimal where its estimate of P(S, Y | x) is right.",
    ),
    "oracle": Method(
        "Oracle Bayes rule",
        "Prop. 4.2, corrected",
        needs_sensitive=True,
        minimises_changes=True,
        estimator=_competitor("bayes", "OracleBayes"),
        uses_membership=True,
        knob=Knob("lambda_fair", "λ_fair", _LAMBDAS_ORACLE, None),
        others={"lambda_ratio": _BONUSES},
        in_paper=False,
        note="The same rule with the group: the paper's fairness-aware setting.",
        short="Oracle Bayes",
    ),
    # ---- Of the overview again: for one kind of model, or made for something else ----
    "leaf_relabelling": Method(
        "Leaf relabelling †",
        "Kamiran et al. 2010",
        criteria=(DP,),
        model_agnostic="decision trees only",
        estimator=_competitor("leaf_relabelling", "LeafRelabelling"),
        groups=2,
        knob=Knob("epsilon", "ε", _GAPS, 1.0),
        note="The paper lists it as needing S. Where f is no tree, the leaves are those of a tree that imitates it.",
        short="Leaves †",
    ),
    "mnb": Method(
        "MNB †",
        "Calders & Verwer 2010",
        needs_sensitive=True,
        criteria=(DP,),
        model_agnostic="naive Bayes only",
        estimator=_competitor("naive_bayes", "ModifiedNaiveBayes"),
        groups=2,
        knob=Knob("epsilon", "ε", _GAPS, None),
        note="Modified naive Bayes: a model of its own, which has f's cut-off only.",
        own_model=True,
    ),
    "multiaccuracy_boost": Method(
        "MultiaccuracyBoost †",
        "Kim et al. 2019",
        aims_at="scores that are right on average in every part of the population",
        randomised=True,
        estimator=_competitor("multiaccuracy", "MultiaccuracyBoost"),
        knob=Knob("alpha", "α", (1.0, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001), 1.0),
        seeds=3,
        note="Mends errors of f that have a pattern; made for neither criterion. The paper lists it as needing S.",
        short="Multiaccuracy †",
    ),
    "wass1_penalised": Method(
        "Wass-1 penalised LR †",
        "Jiang et al. 2020",
        criteria=(DP,),
        minimises_changes=True,
        model_agnostic="logistic regression only",
        estimator=_competitor("wasserstein", "Wass1LogisticRegression"),
        knob=Knob("beta", "β", (0.0, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0), None),
        note="A logistic regression of its own, which has f's cut-off only.",
        cost=5.0,
        own_model=True,
        short="Wass-1 LR †",
    ),
    # ---- Later than the paper, or not in its overview ----
    "mbs": Method(
        "MBS",
        "Chen et al. 2024",
        estimator=_competitor("bias_scoring", "BiasScoring"),
        uses_membership=True,
        knob=Knob("alpha", "α", _ALPHAS, None),
        in_paper=False,
        groups=2,
        note="Post-hoc bias scoring: LPP's rules, searched on the recorded groups and labels.",
        cost=2.0,
    ),
    "oxonfair": Method(
        "OxonFair",
        "Delaney et al. 2024",
        estimator=_competitor("oxonfair", "OxonFair"),
        uses_membership=True,
        knob=Knob("alpha", "α", _ALPHAS, None),
        in_paper=False,
        note="A threshold for each group that a person is guessed to be in.",
        cost=2.0,
    ),
    "rnf": Method(
        "RNF",
        "Du et al. 2021",
        model_agnostic="neural networks only",
        randomised=True,
        estimator=_competitor("neutralised", "RNF"),
        weights=False,
        knob=Knob("alpha", "α", (0.0, 0.01, 0.02, 0.05, 0.1, 0.2), None),
        seeds=3,
        note="A network of its own, which has f's cut-off only. A large α gives everybody the same decision.",
        cost=25.0,
        own_model=True,
    ),
    # ---- Not yet ----
    "igd": Method(
        "IGD post-processing",
        "Lohia et al. 2019",
        needs_sensitive=True,
        criteria=(DP,),
        groups=2,
        note="Needs an f that uses the group; it leaves any other f as it is.",
    ),
    "fcgp": Method(
        "FCGP",
        "Nguyen et al. 2021",
        needs_sensitive=True,
        criteria=(DP,),
        minimises_changes=True,
        note="Descriptions of it contradict one another, and the publication was not at hand.",
    ),
}


def available_methods(fairness: str, n_groups: int = 2) -> list[str]:
    """Names of the methods that run and can meet a criterion for this many groups."""
    check_choice("fairness", fairness, tuple(CRITERIA))
    return [
        name
        for name, method in METHODS.items()
        if method.is_written and fairness in method.criteria and method.takes(n_groups)
    ]


def two_groups_in_words(names: Sequence[str]) -> str:
    """Why methods are not offered where there are more than two groups, in a sentence; empty if there are none."""
    titles = [METHODS[name].title for name in names]
    if not titles:
        return ""
    are = "is a method" if len(titles) == 1 else "are methods"
    return f"{listed(titles)} {are} for two groups, as published, and cannot be asked about more."


def weights_in_words(names: Sequence[str]) -> str:
    """Which of some methods take no weights, and what they do with weighted rows, in a sentence; empty if none does."""
    titles = [METHODS[name].title for name in names if not METHODS[name].weights]
    if not titles:
        return ""
    return (
        f"{listed(titles)} cannot weigh rows when learning: to {'it' if len(titles) == 1 else 'them'} all count alike."
    )


def make_method(
    name: str,
    base_model: BaseModel,
    value: float,
    *,
    fairness: str = DP,
    random_state: int = 0,
    **settings: Any,
) -> Any:
    """An unfitted estimator of a method, its knob at `value`; ValueError if it is not there for the criterion."""
    if name not in METHODS or not METHODS[name].is_written:
        written = ", ".join(key for key, method in METHODS.items() if method.is_written)
        known = f"Method {name!r} is not implemented yet" if name in METHODS else f"There is no method {name!r}"
        raise ValueError(f"{known}: choose one of {written}.")
    method = METHODS[name]
    if fairness not in method.criteria:
        raise ValueError(f"{method.title} is not defined for {fairness}: choose {' or '.join(method.criteria)}.")
    assert method.estimator is not None
    assert method.knob is not None
    module, class_name = method.estimator
    with needs_extra(method.title, "torch"):  # imported when it is needed: torch and fairlearn take seconds
        estimator: Callable[..., Any] = getattr(import_module(module), class_name)
    given = (base_model,) if method.edits else ()
    arguments = {**method.settings, method.knob.name: value, **settings}
    return estimator(*given, **arguments, fairness=fairness, random_state=random_state)


def overview_in_words() -> str:
    """How many methods of the paper's overview run here, how many others, and what † means."""
    printed = [method.is_written for method in METHODS.values() if method.in_paper]
    more = sum(method.is_written for method in METHODS.values() if not method.in_paper)
    return (
        f"{sum(printed)} of the {len(printed)} methods of the paper's overview run here, and {more} that it does not "
        "have. †: written from a description alone."
    )


def overview() -> pd.DataFrame:
    """The paper's overview table of methods, COMMOD first, with what runs here.

    ``runs`` is "yes" or "not yet", ``groups`` "two" or "any"; the other columns are as in `Method`.
    """
    rows = [
        {
            "method": method.title,
            "reference": method.reference,
            "runs": "yes" if method.is_written else "not yet",
            "model_agnostic": method.model_agnostic if method.edits else "trains its own",
            "needs_sensitive": method.needs_sensitive,
            "criteria": "other" if method.aims_at else ", ".join(CRITERIA[name].short for name in method.criteria),
            "groups": "any" if method.groups is None else "two",
            "weights": method.weights,
            "minimises_changes": method.minimises_changes,
            "randomised": method.randomised,
            "knob": method.knob.label if method.knob else "",
            "note": method.note,
        }
        for method in METHODS.values()
    ]
    return pd.DataFrame(rows, index=pd.Index(list(METHODS), name="name"))
