"""Files and places: what is read, written, rejected to, spilled to."""
