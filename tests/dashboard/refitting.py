"""Refits of a model for tests of what is said about them."""

from commod.dashboard.model.training import some_refits, wanted_refits


def refits(result):
    """All of them, one after the other; the app has parts of them computed side by side."""
    return some_refits(result, "rows", 0, wanted_refits(result, "rows"), None)[0]
