"""What the engine and `--explain` need to know of a graph, one question per module."""
