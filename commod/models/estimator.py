"""COMMOD as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from commod.datasets.encoding import TabularEncoder
from commod.installation import needs_extra
from commod.models.adversary import Array
from commod.models.base_models import BaseModel
from commod.models.best_response import WarmStart, solve_linear
from commod.models.classifier import NOBODY, EditedModel, Given, warn_caller
from commod.models.concepts import READ, feature_distances, read_concepts
from commod.models.evaluation import CollapseWarning, collapse_in_words, warn_of_result
from commod.models.prices import solve_prices
from commod.models.rescaler import LinearRescaler, acted_on
from commod.models.threads import single_threaded
from commod.models.training import LossWeights, Solution, StepCallback, TrainingData
from commod.models.validation import allowed_columns, check_choice, check_settings, loss_weights, solver_options

# Weights with a mean of this or more come from a survey rather than from counting rows.
MANY_PEOPLE = 10


@dataclass(eq=False, repr=False)
class Commod(EditedModel):
    """Make a deployed classifier f fairer by few, explainable changes: g(x) = σ(r(x)·logit f(x)).

    r(x) is linear through k sparse, diverse concepts and starts at r ≡ 1, where g = f. Training minimises L_Y −
    λ_fair·L_S + λ_ratio·‖r−1‖² + λ_concepts·(sparsity + diversity) (paper, Eq. 5; the modules of this package name the
    corrections). L_S is the loss of an adversary that reads the sensitive attribute from the new score. Only `fit` uses
    the sensitive attribute; `predict` neither needs nor accepts it.

    Parameters
    ----------
    base_model : fitted classifier, callable, str or None
        The deployed model f: a fitted scikit-learn classifier or Pipeline; a function from X to probabilities; or the
        column of X that holds f's probabilities (which is then no feature). None trains a logistic regression, unless
        `fit` gets `base_scores`. `clone` keeps a fitted model fitted.
    threshold : float, "budget", "budget:0.2" or None
        f and g decide positively above this probability. With t its logit, g(x) = σ(t + r(x)·(logit f(x) − t)), so that
        r ≡ 1 keeps every score and decision of f. "budget": as many positive decisions on the training rows as positive
        labels, or the share given. None: f's own cut-off, usually one half.
    lambda_fair : float, default 2.0
        Weight of fairness. At 0, g = f. Any value above 0 also brings in L_Y, so scores move at once: at 0.001 by about
        0.01 on average, up to 0.07 on law_school and 0.27 on compas (ten splits).
    lambda_ratio : float, default 0.05
        Weight of staying close to f.
    lambda_concepts : float, default 0.01
        Weight of the concept terms. Its unit is the adversary's strongest pull on any weight, so that one value means
        the same on every data set; at λ_concepts ≥ λ_fair no weight moves for the sake of fairness. On law_school at
        λ_fair 4, from 0.01 to 1, P-Rule on test goes from 0.67 to 0.84.
    n_concepts : int, default 2
        k, the number of concepts into which r is split for reading. A larger k adds detail but no power.
    fairness : {"demographic_parity", "equalized_odds"}
    update : {"ratio", "affine", "decisions"}, default "ratio"
        "ratio" multiplies f's logit by r, as in the paper: a decision changes where r < 0. "affine" adds a shift s(x),
        linear through the same concepts, with its own λ_ratio·‖s‖² (in the unit `shift_unit`): a small shift is enough
        near the cut-off. "decisions" minimises errors + λ_ratio·changes + the price of the gap between groups
        (`commod.models.prices`): people who stay keep f's score, and those who change land just across the cut-off.
        `lambda_fair` is a target there (0: f's own fairness on the training rows, 5: halfway, 10: parity), and a change
        costs 20·`lambda_ratio` errors. "affine" and "decisions" need the default `rescaler` and `solver`.
    max_changes : int or float, optional
        Budget for ``update="decisions"``: a number of training rows, or a share of them (below 1). g is the fairest
        model on the way to `lambda_fair` that keeps to it.
    direction : {"both", "improve", "worsen"}, default "both"
        "improve" updates only people with f's unfavourable decision, so nobody loses the favourable one; "worsen"
        updates only the others. All other scores stay f's own. Needs the default `rescaler` and `solver`.
    favourable : label, optional
        The favourable label, for `direction`; by default the positive one.
    features : list of columns of X, optional
        What r (and s) may use; by default everything. f keeps using what it used. An array has columns "x0", "x1" …
    ratio_norm : {"identity", "fisher"} or array of shape (n_rows,)
        Metric of ‖r−1‖²; an array gives each instance a weight.
    rescaler : {"linear", "mlp"}
        "mlp" is the paper's comparison of architectures: it has no concepts.
    solver : {"best_response", "adversarial"}
        "best_response" solves the adversary at every step and follows λ_fair up from g = f: deterministic and fast.
        "adversarial" is the paper's own listing.
    sparsity_weight, diversity_weight : float, default 1.0
        Factors of λ_concepts in the two concept terms.
    solver_options : dict, optional
        "best_response": ``tol`` (linear), ``width``, ``max_iter`` (mlp). "adversarial": ``epochs, batch_size,
        learning_rate, adversary_learning_rate, adversary_width, adversary_steps, warmup_epochs`` (and ``width``).
    random_state : int, default 0
        Seed of "adversarial" and "mlp". The default solver for a linear r uses no randomness.

    Attributes
    ----------
    concepts_, concept_weights_ : DataFrame, feature × concept, and Series
        Unit directions in standardised features with disjoint supports, and their weights in r, 0 or negative: r(x) =
        intercept_ + Σ_j weight_j·(concept_j · x). A high value takes f's decision back. The data and f alone decide
        which features go together.
    coef_, intercept_ : Series, float
        The same r by feature: concepts_ @ concept_weights_.
    shift_concepts_, shift_weights_, shift_coef_, shift_intercept_
        The same of the shift. A high value raises the score; weights are 0 or positive. No columns without a shift.
    feature_groups_ : list of arrays
        Indices of the encoded features of each concept, including those without weight.
    path_, history_ : DataFrame
        The points from g = f to the target (λ_fair, loss terms, key figures on the training rows), and the loss terms
        after every step.
    converged_, stopped_ : bool
        Whether the solver converged, and whether a callback stopped it.
    classes_, groups_ : ndarray
        The labels (the second counts as 1) and the values of the sensitive attribute.
    base_model_, threshold_, encoder_
        The f that is used, the probability above which f and g decide positively, and the `TabularEncoder` of r.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from commod import Commod, evaluate, load_task
    >>> task = load_task("law_school")
    >>> train, test = task.split(seed=0)
    >>> f = task.base_model(LogisticRegression()).fit(train.X, train.y)
    >>> g = Commod(f, lambda_fair=2.0).fit(train.X, train.y, sensitive_features=train.sensitive)
    >>> bool(evaluate(task, f, g, test).loc["p_rule", "difference"] > 0.1)
    True
    """

    base_model: BaseModel = None
    _: KW_ONLY
    threshold: float | str | None = None
    lambda_fair: float = 2.0
    lambda_ratio: float = 0.05
    lambda_concepts: float = 0.01
    n_concepts: int = 2
    fairness: str = "demographic_parity"
    update: str = "ratio"
    max_changes: float | None = None
    direction: str = "both"
    favourable: Any = None
    features: Sequence[Any] | None = None
    ratio_norm: Any = "identity"
    rescaler: str = "linear"
    solver: str = "best_response"
    sparsity_weight: float = 1.0
    diversity_weight: float = 1.0
    solver_options: Mapping[str, Any] | None = None
    random_state: int = 0

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        base_scores: Any = None,
        sample_weight: Any = None,
        callback: StepCallback | None = None,
        warm_start: WarmStart | None = None,
    ) -> Commod:
        """Learn the ratio, and the shift if there is one.

        Parameters
        ----------
        X : DataFrame (of pandas or polars) or array (n, d)
            What f was given; categories may be strings or pandas categories. f gets gaps untouched; r fills them as
            `TabularEncoder` says.
        y : array (n,)
            Two labels of any type; the second in sorted order is the positive one.
        sensitive_features : array (n,), or (n, c) for c attributes that are crossed
            Groups of any type and number. A row whose group is missing (NaN, None) counts in L_Y and L_ratio only.
            Without groups there is nobody to be fair to: g = f, with a warning.
        base_scores : array (n,), optional
            f's probabilities for these rows, instead of asking `base_model`.
        sample_weight : array (n,), optional
            How much each row counts, in f (if it is trained here), in the loss and in ``path_``. A whole number counts
            as that many copies of the row (nearly so beyond `SAMPLE_ROWS` rows, where the path is solved on a sample).
        callback : callable, optional
            ``callback(step, n_steps, terms)`` after every step. A true answer ends training and keeps the model reached
            so far; an exception leaves this object as it was.
        warm_start : commod.models.WarmStart, optional
            One object for several fits on the same rows that differ in `lambda_fair` or `n_concepts` only: each starts
            where the last one ended, with the same result to the last digit. Default solver only.
        """
        warm_start = WarmStart() if warm_start is None else warm_start
        frame, sources = self._validated(X, reset=True), (X, y, sensitive_features, sample_weight)
        given: Given = warm_start.derive("rows", sources, lambda: self._those_given(frame, *sources[1:]))
        weights = loss_weights(self, given.classes)
        labels = given.labels
        n_groups = 2 if given.groups is None else len(given.groups)
        base_model, logit, line = self._base(given, y, base_scores)
        sensitive = np.zeros(len(labels)) if given.sensitive is None else given.sensitive
        if given.sensitive is None and weights.fair > 0:
            warn_caller(f"{NOBODY}: g = f.")
            weights = replace(weights, fair=0.0)
        if given.weight is not None and n_groups > 2 and given.weight.mean() > MANY_PEOPLE:
            warn_caller(
                f"A row of sample_weight stands for {given.weight.mean():,.0f} people on average, so no group counts "
                "as small. If these are survey weights, divide them by their mean."
            )
        left_out = base_model if isinstance(base_model, str) else ""
        encoder, encoded = warm_start.derive(
            f"encoding without {left_out}", (X, sample_weight), lambda: self._encoding(given, base_model)
        )
        check_settings(self, X, encoded.shape[1])
        origins = [column for column, _ in encoder.origin_]
        data = TrainingData(encoded, logit, labels, sensitive, line, n_groups, given.weight)
        ratio_norm = self.ratio_norm if isinstance(self.ratio_norm, str) else given.those(np.asarray(self.ratio_norm))
        derive = warm_start.derive
        with single_threaded():
            # Before the solver, whose matrices are as large as this one.
            distances = derive("distances", (encoded,), lambda: feature_distances(encoded, origins, given.weight))
            solution = self._solve_for(origins, data, weights, ratio_norm, callback, warm_start)
            reading = read_concepts(solution, distances, encoder.feature_names_out_, self.n_concepts, derive)

        # Nothing above touches a fitted attribute: a fit that fails or is interrupted leaves the old model whole.
        self.classes_, self.groups_ = given.classes, given.groups
        self.base_model_, self.line_, self.encoder_ = base_model, line, encoder
        self._keep(solution, data, reading)
        if not self.converged_ and not self.stopped_:
            what = "the last point of path_ may be improved on. Raise lambda_ratio or lower lambda_fair."
            warn_of_result(f"COMMOD did not converge: {what}", ConvergenceWarning)
        for sentence in collapse_in_words(labels, logit, solution.rescaler.score(data.X, data.logit)):
            what = "Lower lambda_fair, or try update='affine' or direction='improve'."
            warn_of_result(f"On the training rows {sentence} {what}", CollapseWarning)
        return self

    def _solve_for(self, origins: list[object], data: TrainingData, *how: Any) -> Solution:
        """The solution for the features that r may use, extended to all features."""
        if self.features is None:
            return self._solve(data, *how)
        columns, warm_start = allowed_columns(self, origins), how[-1]
        few = warm_start.derive(f"columns {columns.tolist()}", (data.X,), lambda: data.X.take(columns, axis=1))
        return self._solve(replace(data, X=few), *how).spread(columns, len(origins))

    def _solve(
        self,
        data: TrainingData,
        weights: LossWeights,
        ratio_norm: Any,
        callback: StepCallback | None,
        warm_start: WarmStart,
    ) -> Solution:
        options = solver_options(self)
        if weights.update == "decisions":
            with warm_start.prices(data, weights) as path:
                return solve_prices(path, weights.fair, callback, self._budget(data))
        if weights.fair == 0 or (self.solver, self.rescaler) == ("best_response", "linear"):
            # λ_fair = 0 asks for no fairness: g = f, the first point of the path, with any solver.
            tol = options.get("tol", 1e-9)
            return solve_linear(data, weights, ratio_norm, tol=tol, callback=callback, warm_start=warm_start)
        options |= {"random_state": int(self.random_state), "callback": callback}
        if self.solver == "best_response":
            with needs_extra("rescaler='mlp'", "torch"):  # imported here: torch takes a second
                from commod.models.networks import solve_mlp
            return solve_mlp(data, weights, ratio_norm, **options)
        with needs_extra("solver='adversarial'", "torch"):
            from commod.models.networks import train_adversarial
        architecture: Any = self.rescaler
        return train_adversarial(
            data, weights, ratio_norm, architecture=architecture, n_concepts=self.n_concepts, **options
        )

    def _budget(self, data: TrainingData) -> float:
        """How many people may change."""
        if self.max_changes is None:
            return np.inf
        people = len(data.y) if data.weight is None else float(data.weight.sum())
        return self.max_changes * people + 1e-6 if self.max_changes < 1 else self.max_changes  # rounding costs nobody

    def _keep(self, solution: Solution, data: TrainingData, reading: dict[str, Any]) -> None:
        self.rescaler_ = solution.rescaler
        self.path_rescalers_ = [point.rescaler for point in solution.path]
        self.converged_ = solution.converged
        self.stopped_ = solution.stopped
        self.n_iter_ = sum(point.n_iter for point in solution.path)
        self.history_ = pd.DataFrame(solution.history)
        figures = [data.figures(rescaler.score(data.X, data.logit)) for rescaler in self.path_rescalers_]
        rows = zip(solution.path, figures, strict=True)
        self.path_ = pd.DataFrame([{**point.terms, "n_iter": point.n_iter, **found} for point, found in rows])
        for name in READ:
            self.__dict__.pop(name, None)
        self.__dict__ |= reading

    @property
    def has_shift(self) -> bool:
        """Whether concepts add to a shift s, as with ``update="affine"`` and ``update="decisions"``."""
        check_is_fitted(self, "rescaler_")
        return isinstance(self.rescaler_, LinearRescaler) and self.rescaler_.shift_coef is not None

    @property
    def decides(self) -> bool:
        """Whether r·logit f + s only says who is flipped: ``update="decisions"``."""
        return self.has_shift and self.rescaler_.mirror is not None

    def ratio(self, X: Any, *, base_scores: Any = None) -> Array:
        """r(x) of each row; without a shift, a decision changes where it is negative."""
        return self.ratio_and_shift(X, base_scores=base_scores)[0]

    def ratio_and_shift(self, X: Any, *, base_scores: Any = None) -> tuple[Array, Array]:
        """r(x) and s(x) of each row; a decision changes where r·logit f + s and logit f have different signs.

        They are 1 and 0 where `direction` keeps the update from acting.
        """
        return self.rescaler_.ratio_and_shift(*self._encoded_and_logit(X, base_scores))

    def balance(self, X: Any, *, base_scores: Any = None) -> Array:
        """What decides: the positive class above 0. It is g's own logit, unless `decides`."""
        return self.rescaler_.balance(*self._encoded_and_logit(X, base_scores))

    def decision_function(self, X: Any, *, base_scores: Any = None) -> Array:
        """How far g's logit lies above f's cut-off t: r(x)·(logit f(x) − t) + s(x); the positive class above 0."""
        encoded, logit = self._encoded_and_logit(X, base_scores)
        return self.rescaler_.score(encoded, logit)

    def predict_proba(self, X: Any, *, base_scores: Any = None) -> Array:
        """Probabilities of the two classes under g."""
        return self._probabilities(self.decision_function(X, base_scores=base_scores))

    def predict(self, X: Any, *, base_scores: Any = None) -> np.ndarray:
        """Decisions of g: the positive class where g(x) > threshold_, so a tie is negative."""
        return self._classes(self.decision_function(X, base_scores=base_scores))

    def staged_predict(self, X: Any, *, base_scores: Any = None) -> Iterator[np.ndarray]:
        """Decisions at each point of ``path_``, from f to g."""
        rows = self._encoded_and_logit(X, base_scores)
        return (self._classes(rescaler.score(*rows)) for rescaler in self.path_rescalers_)

    def concept_activations(self, X: Any, *, base_scores: Any = None) -> pd.DataFrame:
        """Value of each concept for each row, concept_j · x in standardised features; 0 is the training average."""
        index = X.index if isinstance(X, pd.DataFrame) else None
        return self.activations_of(self._encoded_and_logit(X, base_scores)[0]).set_axis(index)

    def activations_of(self, encoded: Array) -> pd.DataFrame:
        """`concept_activations` of encoded rows."""
        directions = self.concept_directions()
        return pd.DataFrame(encoded @ directions.to_numpy(), columns=directions.columns)

    def explain_prediction(self, x: Any, *, by: str = "concept", base_scores: Any = None) -> pd.DataFrame:
        """The sum that leads from f's logit to g's for one instance.

        Parameters
        ----------
        x : DataFrame of one row, Series, or array (1, d)
        by : {"concept", "feature"}

        Returns
        -------
        DataFrame
            Rows "f", "constant", one per concept (or encoded feature), "g". Columns ``value`` (of the concept or
            standardised feature) and ``weight`` in r, ``ratio`` (what the term adds to r), ``shift`` (to s), ``logit``
            (ratio times logit f, plus shift) and ``logit_after`` (the running sum, which starts at f's logit and ends
            at g's). Where `direction` keeps the update from acting, every term adds 0. With ``update="decisions"`` the
            terms up to "kept" add up to what decides, positive where g's decision is; "kept" leads from there to g's
            logit: f's own, or just across the cut-off.
        """
        check_choice("by", by, ("concept", "feature"))
        if isinstance(x, pd.Series):
            x = x.to_frame().T.infer_objects()
        encoded, logit = self._encoded_and_logit(x, base_scores)
        if len(encoded) != 1:
            raise ValueError(f"explain_prediction explains one instance at a time, got {len(encoded)} rows.")
        concepts, decides = self._concepts(), self.decides
        if by == "concept":
            directions, weights = concepts, self.concept_weights_
            if decides:  # all that concepts do is in the shift
                directions, weights = self.shift_concepts_, self.shift_weights_
            values = encoded[0] @ directions.to_numpy()
            shifts = encoded[0] @ self.shift_concepts_.to_numpy() * self.shift_weights_.to_numpy()
        else:
            values, weights = encoded[0], self.shift_coef_ if decides else self.coef_
            shifts = values * self.shift_coef_.to_numpy()
        adds = np.zeros(len(values)) if decides else values * weights.to_numpy()
        if not len(shifts):
            shifts = np.zeros(len(values))
        acts = float(acted_on(self.rescaler_.acts_on, logit)[0])
        step = self.rescaler_.shift_step if decides and logit[0] > 0 else 0.0
        ratios = np.concatenate([[1.0], acts * np.append(self.intercept_ - 1.0, adds)])
        shifts = np.concatenate([[0.0], acts * np.append(self.shift_intercept_ + step, shifts)])
        frame = pd.DataFrame(
            {
                "value": np.concatenate([[np.nan, 1.0], values]),
                "weight": np.concatenate([[np.nan, self.intercept_ - 1.0], weights.to_numpy()]),
                "ratio": ratios,
                "shift": shifts,
            },
            index=pd.Index(["f", "constant", *weights.index], name="term"),
        )
        if decides:
            ratio, shift = self.rescaler_.ratio_and_shift(encoded, logit)
            frame.loc["kept"] = [np.nan, np.nan, ratio[0] - frame["ratio"].sum(), shift[0] - frame["shift"].sum()]
        frame["logit"] = frame["ratio"] * logit[0] + frame["shift"]
        frame["logit_after"] = frame["logit"].cumsum()
        ratio, shift = frame["ratio"].sum(), frame["shift"].sum()
        after = ratio * logit[0] + shift
        frame.loc["g"] = [np.nan, np.nan, ratio, shift, after, after]
        return frame

    def concept_directions(self) -> pd.DataFrame:
        """``concepts_`` with those of the shift behind them, feature × concept."""
        concepts = self._concepts()
        return pd.concat([concepts, self.shift_concepts_], axis=1) if self.has_shift else concepts

    def get_feature_names_out(self, input_features: Any = None) -> list[str]:
        """Names of the encoded features that r sees."""
        check_is_fitted(self, "encoder_")
        return list(self.encoder_.feature_names_out_)

    def _encoding(self, given: Given, base_model: BaseModel) -> tuple[TabularEncoder, Array]:
        encoder = TabularEncoder()
        return encoder, encoder.fit_transform(self._inputs(given.X, base_model), sample_weight=given.weight)

    def _encoded_and_logit(self, X: Any, base_scores: Any) -> tuple[Array, Array]:
        frame = self._checked(X, "rescaler_")
        logit = self.margin_of_f(frame, base_scores=base_scores)
        return self.encoder_.transform(self._inputs(frame, self.base_model_)), logit

    def _concepts(self) -> pd.DataFrame:
        check_is_fitted(self, "rescaler_")
        if not hasattr(self, "concepts_"):
            raise AttributeError("rescaler='mlp' has no concepts: fit with rescaler='linear' to explain the changes.")
        return self.concepts_
