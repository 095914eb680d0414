"""Best response for a ratio that is a small ReLU network (the paper's architecture comparison, Fig. 8)."""

from typing import Any

import torch
from scipy.optimize import minimize

from commod.models.adversary import Array
from commod.models.best_response import rungs_below
from commod.models.networks import MLPNetwork, seeded
from commod.models.objective import ScoreObjective
from commod.models.training import LossWeights, PathPoint, Solution, StepCallback, Terms, TrainingData, instance_weights


def solve_mlp(
    data: TrainingData,
    weights: LossWeights,
    ratio_norm: Any,
    *,
    width: int = 16,
    max_iter: int = 200,
    random_state: int = 0,
    callback: StepCallback | None = None,
) -> Solution:
    """Climb the same ladder as `solve_linear`, with L-BFGS on the network's weights at each rung.

    The network has no concepts, so the concept weights of the loss play no part. Its hidden layer starts at random
    from `random_state`; its output layer at r ≡ 1.
    """
    rows = instance_weights(ratio_norm, data)[ScoreObjective.order(data.y, by_label=weights.by_label)]
    data = data.sorted_for(weights.by_label)
    objective = data.objective(weights)
    with seeded(random_state):
        network = MLPNetwork(data.X.shape[1], width).double()
    X, logit, row_weights = torch.from_numpy(data.X), torch.from_numpy(data.logit), torch.from_numpy(rows)
    parameters = list(network.parameters())

    def ratio_and_penalty() -> tuple[torch.Tensor, torch.Tensor]:
        ratio = network(X)
        return ratio, (row_weights * (ratio - 1.0) ** 2).mean()

    def terms_at(flat: Array, lambda_fair: float) -> Terms:
        torch.nn.utils.vector_to_parameters(torch.from_numpy(flat.copy()), parameters)
        with torch.no_grad():
            ratio, penalty = ratio_and_penalty()
        state = objective.evaluate((ratio * logit).numpy())
        return {
            "lambda_fair": lambda_fair,
            "objective": state.value(lambda_fair) + weights.ratio * float(penalty),
            "label_loss": state.label_loss,
            "adversary_loss": state.adversary_loss,
            "ratio_loss": float(penalty),
            "sparsity_loss": 0.0,
            "diversity_loss": 0.0,
        }

    def loss(flat: Array, lambda_fair: float) -> tuple[float, Array]:
        torch.nn.utils.vector_to_parameters(torch.from_numpy(flat.copy()), parameters)
        network.zero_grad()
        ratio, penalty = ratio_and_penalty()
        z = ratio * logit
        state = objective.evaluate(z.detach().numpy())
        slope = torch.from_numpy(objective.gradient(state, lambda_fair))
        ((z * slope).sum() + weights.ratio * penalty).backward()  # type: ignore[no-untyped-call]
        gradient = torch.cat([p.grad.reshape(-1) for p in parameters if p.grad is not None])
        return state.value(lambda_fair) + weights.ratio * float(penalty.detach()), gradient.numpy()

    solution = Solution()
    flat = torch.nn.utils.parameters_to_vector(parameters).detach().numpy().copy()
    solution.path.append(PathPoint(network.rescaler(), terms_at(flat, 0.0)))
    rungs = rungs_below(weights.fair)
    for step, rung in enumerate(rungs, start=1):

        def report(flat: Array, step: int = step, rung: float = rung) -> None:
            terms = terms_at(flat, rung)
            solution.history.append({"step": step, **terms})
            if callback is not None and callback(step, len(rungs), terms):
                solution.stopped = True
                raise StopIteration

        options = {"maxiter": max_iter, "ftol": 1e-9}
        found = minimize(loss, flat, args=(rung,), jac=True, method="L-BFGS-B", callback=report, options=options)
        flat = found.x
        terms = terms_at(flat, rung)
        solution.path.append(PathPoint(network.rescaler(), terms, int(found.nit), found.status == 0))
        if solution.stopped:
            break
    return solution
