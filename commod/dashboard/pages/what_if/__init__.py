"""The page What if."""
