"""The Limits page."""
