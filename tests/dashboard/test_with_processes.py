"""Pages with the processes that users have: other tests of pages compute all in their own, which starts sooner."""

import pytest

from commod.dashboard.jobs import processes, service
from commod.dashboard.jobs.computation import without_report
from commod.dashboard.state.settings import Settings
from tests.browsing import WITH_PROCESSES
from tests.dashboard.driving import figure, fine, run
from tests.waiting import wait_until

# Of each page that computes: a link by which it is quick, and what is computed for it. The other pages compute nothing
# of their own; teacher's notes, searches and SHAP are pressed for, or left out here.
COMPUTED = {
    "app.py": ({}, {"fit_on_path", "explained", "tree", "sweep_method"}),
    "pages/lesson.py": ({"step": "cheap", "answers": ",,,4"}, {"fit_on_path", "explained"}),
    "pages/runs.py": (
        {"pinned": [("one", Settings(k=3)), ("two", Settings(lambda_fair=2.0))]},
        {"fit_on_path", "merit"},
    ),
    "pages/people.py": ({}, {"fit_on_path", "people", "segments"}),
    "pages/what_if.py": ({}, {"fit_on_path", "ranges_of"}),
    "pages/limits.py": (
        {"methods": "lpp"},
        {"fit_on_path", "limits_of", "blind_limits_of", "interventions_of", "collapses_of", "sweep_method"},
    ),
    "pages/compare.py": (
        {"methods": "commod,oracle_roc"},
        {"sweep_method", "fewest_at_levels", "collapses_of", "match_models", "retrain", "refit"},
    ),
    "pages/take_home.py": ({}, {"fit_on_path"}),
    "pages/decide.py": (
        {"methods": "commod,oracle_roc", "req": "changed:0.1"},
        {"fit_on_path", "sweep_method", "best_under"},
    ),
}


@pytest.fixture(scope="module")
def environment():
    with pytest.MonkeyPatch.context() as patched:
        for name, value in WITH_PROCESSES.items():
            patched.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def pool(environment):
    """Processes that are ready; nothing has been computed yet."""
    service.process_pool.clear()
    service.queue.clear()
    made = service.process_pool()
    wait_until(lambda: len(made.workers) == 2 and all(not worker.lost for worker in made.workers))
    yield made
    made.close()
    service.process_pool.clear()
    service.queue.clear()


@pytest.fixture
def elsewhere(pool, monkeypatch):
    """Names of what is computed in a process."""
    names = set()
    compute = processes.WorkerProcess.compute

    def noting(self, call, report, **how):
        result = compute(self, call, report, **how)
        function = call.args[0] if call.func is without_report else call.func
        names.add(getattr(function, "func", function).__name__)
        return result

    monkeypatch.setattr(processes.WorkerProcess, "compute", noting)
    service.queue().forget(lambda key: True)
    return names


LATER = (
    "pages/lesson.py",
    "pages/limits.py",
    "pages/runs.py",
    "pages/people.py",
    "pages/what_if.py",
    "pages/take_home.py",
    "pages/compare.py",
    "pages/decide.py",
)


@pytest.mark.parametrize("script", [pytest.param(s, marks=pytest.mark.slow if s in LATER else ()) for s in COMPUTED])
@pytest.mark.slow
def test_a_page_is_computed_in_processes(elsewhere, script):
    link, expected = COMPUTED[script]
    fine(run(script, **link))
    assert expected <= elsewhere


@pytest.mark.slow  # by default without a page: test_a_model_trained_elsewhere_is_the_same_to_the_last_digit
def test_what_is_shown_does_not_depend_on_where_it_was_computed(elsewhere, monkeypatch):
    labels = ("Accuracy", "P-Rule", "Decisions changed")
    there = fine(run(seed="77"))
    assert "fit_on_path" in elsewhere
    elsewhere.clear()
    service.queue().forget(lambda key: True)
    monkeypatch.setattr(service, "process_pool", lambda: processes.ProcessPool(0))
    here = fine(run(seed="77"))
    assert not elsewhere
    assert [figure(here, label) for label in labels] == [figure(there, label) for label in labels]
