"""Flows: the records between nodes, with the columns that the engine adds to them."""
