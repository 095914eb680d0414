"""One folder or file a page."""
