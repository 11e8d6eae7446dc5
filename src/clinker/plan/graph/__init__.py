"""The graph: compositions expanded, channels laid over, references followed."""
