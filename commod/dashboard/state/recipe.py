"""The Python that makes a model of the app with the library."""

from commod.dashboard.state.settings import Settings
from commod.datasets import load_task
from commod.datasets.task import MAX_TRAINING
from commod.models.base_models import BASE_MODELS, GIVEN_SCORES
from commod.models.threshold import ONE_HALF


def to_python(settings: Settings) -> str:
    """Code that makes the same model with the library."""
    task = load_task(settings.task_name)
    line = {} if settings.threshold == ONE_HALF else {"threshold": settings.threshold}
    arguments = "\n".join(f"    {name}={value!r}," for name, value in (line | settings.commod_arguments()).items())
    imports = "from commod import Commod, evaluate" + ("" if task.recipe else ", load_task") + "\n"
    make_task = f"{task.recipe}" if task.recipe else f'task = load_task("{settings.task_name}")\n'
    if settings.f == GIVEN_SCORES:
        make_f = f"f = {task.spec.scores!r}  # the column of its scores\n"
    else:
        classifier = BASE_MODELS[settings.f][1]()
        module = type(classifier).__module__.rsplit("._", 1)[0]
        imports = f"from {module} import {type(classifier).__name__}\n\n{imports}"
        make_task += "task = task.without_scores()  # f is trained here\n" if task.spec.scores else ""
        make_f = f"f = task.base_model({' '.join(repr(classifier).split())})"
        if task.weight is None:
            make_f += ".fit(train.X, train.y)\n"
        else:
            steps = ", ".join(f"{step}__sample_weight=train.weight" for step, _ in task.base_model(classifier).steps)
            make_f += f"\nf.fit(train.X, train.y, {steps})\n"
    many = (1 - task.test_share) * len(task.y) > MAX_TRAINING
    sample = "train = train.sample()  # as many rows as an edit needs\n" if many else ""
    unknown = (task.sensitive < 0).any()
    rows = f"sensitive_features=train.sensitive{'_features' if unknown else ''}"
    rows += "" if task.weight is None else ", sample_weight=train.weight"
    return (
        f"{imports}\n{make_task}"
        f"train, test = task.split(seed={settings.seed})\n"
        f"{make_f}"
        f"{sample}"
        f"g = Commod(\n    f,\n{arguments}\n)\n"
        f"g.fit(train.X, train.y, {rows})\n"
        "print(evaluate(task, f, g, test).to_string())\n"
    )
