"""Files from strangers, read within limits; risky formats are read in a separate process.

Nothing is imported here, so that this process starts in a fifth of a second, without pandas and scikit-learn.
"""
