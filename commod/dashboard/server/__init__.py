"""The server around the pages: who is let in, whose files are whose, headers, start-up, and the order of drawing."""
