"""The Take home page."""
