"""A lesson without its page: its scenarios, and what they say, ask and answer from trained models."""
