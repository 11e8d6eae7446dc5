"""The interpreter, which defines what programs mean, and what it computes with."""
