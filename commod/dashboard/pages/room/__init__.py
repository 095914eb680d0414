"""The room: its door, its board, what the leader does and what somebody does who takes part."""
