"""What two pages or more draw."""
