"""The server around the pages: headers, sockets, waking sessions, and who draws when."""
