"""The Paper page."""
