"""The page Saved runs."""
