"""A run: everything between a compiled plan and its published files."""
