"""The server around the pages: who gets in, who owns which files, headers, start-up, and the order of drawing."""
