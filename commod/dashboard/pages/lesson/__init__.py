"""The guided hour: its steps, its page and the teacher's notes."""
