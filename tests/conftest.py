import gc
import os
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

# A busy machine draws examples slowly: that is no error.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

# One thread per process, before numpy is imported: the suite runs in as many processes as there are cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# What SHAP compiles takes eight seconds in every process and saves a fifth of a second: with the same figures without.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
os.environ.setdefault("COMMOD_WARM_UP", "0")
os.environ.setdefault("COMMOD_REFITS", "2")  # also of what a fixture opens for a whole file of tests
_rooms = TemporaryDirectory(prefix="rooms-")  # until this process ends; never those of whoever runs the tests
os.environ["COMMOD_ROOMS_FILE"] = f"{_rooms.name}/rooms.sqlite"
os.environ.setdefault("COMMOD_PROCESSES", "0")  # processes that compute apart have tests of their own


# The processes of a run, and those that they start, share what Python compiles, whatever the machine's own rule.
if "PYTEST_XDIST_WORKER" in os.environ:
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Until all tests are found nothing is thrown away, and it takes an eighth less without looking for what might be.
gc.disable()


def pytest_addoption(parser):
    parser.addoption("--update-snapshots", action="store_true", help="write tests/snapshots again (see there)")


@pytest.fixture(scope="session")
def updates_snapshots(pytestconfig):
    return pytestconfig.getoption("--update-snapshots")


QUICK = "quick and not slow and not longer"


def pytest_configure(config):
    if config.option.markexpr == "quick":
        config.option.markexpr = QUICK


def pytest_ignore_collect(collection_path, config):
    """Where only the quick tests run, files without any are not imported."""
    if config.option.markexpr == QUICK and collection_path.match("test_*.py"):
        return "pytest.mark.quick" not in collection_path.read_text(encoding="utf-8") or None
    return None


def pytest_collection():
    """Each process first imports its share of the test files, so that one of them rewrites each file's assertions."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        place, count = int(os.environ["PYTEST_XDIST_WORKER"][2:]), int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        root = Path(__file__).parent
        for path in sorted(root.rglob("test_*.py"))[place::count]:
            import_module(".".join(path.relative_to(root.parent).with_suffix("").parts))


def pytest_collection_modifyitems(items):
    """Start with the tests that need a running app.

    Work stealing hands each process one run of neighbouring tests and later steals from the end of the longest queue.
    The tests in front are stolen last, so that those that share the app (`served`) stay in one process. (xdist_group is
    for --dist loadgroup alone.)
    """
    items.sort(key=lambda item: not (item.get_closest_marker("browser") or "served" in item.fixturenames))


def pytest_collection_finish():
    """What is loaded now stays loaded: later looks at what can be thrown away go past it, and are rarer.

    As often as Python looks by default they take 7 % of the time of page tests.
    """
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


@pytest.fixture(scope="session")
def served():
    """The address of the app with processes, as users have it."""
    from tests.browsing import WITH_PROCESSES, serve

    with serve(environment=WITH_PROCESSES) as running:
        yield running


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Skip what this system cannot do; tests in a browser fail instead with COMMOD_REQUIRE_BROWSER."""
    for name, is_here in {"posix": hasattr(os, "fork"), "linux": sys.platform == "linux"}.items():
        if not is_here and item.get_closest_marker(name):
            pytest.skip(f"needs {name}")
    if item.get_closest_marker("browser") is None:
        return
    from tests.browsing import chromium_path

    if chromium_path() is None:
        if os.environ.get("COMMOD_REQUIRE_BROWSER"):
            pytest.fail("Chromium is missing, and the tests in a browser may not be skipped here.", pytrace=False)
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
