"""The page Who changed."""
