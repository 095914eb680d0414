"""What a session holds: the setting, its link, undo, uploaded data, saved runs."""
