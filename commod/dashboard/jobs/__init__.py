"""All computing: the queue, the processes, and the tasks that they can be given."""
