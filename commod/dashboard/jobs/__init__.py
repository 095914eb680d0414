"""The only door to computing: the queue, the processes, and what they are asked to do."""
