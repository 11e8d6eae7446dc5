"""Files, whatever their format: parts, assembly, publication, recovery."""
