import gc
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

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


# Until all tests are found nothing is thrown away, and it takes an eighth less without looking for what might be.
gc.disable()

# Files that take longest, in this order: they are begun first, so that none is left over for one process at the end.
LONGEST = (
    "test_browser.py",
    "test_picture.py",
    "test_crowd.py",
    "test_pages.py",
    "test_behaviour.py",
    "test_interface.py",
    "test_processes.py",
    "test_cli.py",
    "test_target.py",
    "test_your_data.py",
    "test_privacy.py",
    "test_readme.py",
    "test_wheel.py",
    "test_compare_page.py",
)

# Files that go to one process together, since they share a running app (`served`), or a sweep (`tests.fitting.swept`).
TOGETHER = (("test_browser.py", "test_picture.py", "test_crowd.py"), ("test_limits.py", "test_match.py"))


def pytest_collection_modifyitems(items):
    """Begin with what takes longest."""
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))


def pytest_collection_finish():
    """What is loaded now stays loaded: later looks at what can be thrown away go past it."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """One process for all tests of a file, and of those that belong together."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return next((names[0] for names in TOGETHER if Path(file).name in names), file)

    return Scheduling(config, log)


@pytest.fixture(scope="session")
def served():
    """The address of the app with processes, as users have it."""
    from tests.browsing import WITH_PROCESSES, serve

    with serve(environment=WITH_PROCESSES) as running:
        yield running


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Tests in a browser are skipped where there is none, with a sentence; with COMMOD_REQUIRE_BROWSER they fail."""
    if item.get_closest_marker("browser") is None:
        return
    from tests.browsing import chromium_path

    if chromium_path() is None:
        if os.environ.get("COMMOD_REQUIRE_BROWSER"):
            pytest.fail("Chromium is missing, and the tests in a browser may not be skipped here.", pytrace=False)
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
