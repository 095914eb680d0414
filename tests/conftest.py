import os

# One thread per process, before numpy is imported: the suite runs in as many processes as there are cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_collection_modifyitems(items):
    """The browser tests first: they share a server and run one after the other, while the rest fills the other core."""
    items.sort(key=lambda item: "browser" not in item.keywords)
