"""Files that strangers send: read within limits, and what can end a process in a process of its own.

Nothing is imported here: the process that unpacks a Parquet file starts in a fifth of a second because it needs neither
pandas nor scikit-learn.
"""
