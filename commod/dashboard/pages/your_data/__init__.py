"""The page Your data."""
