"""The command lines: argument parsing and printing, nothing else."""
