"""The command lines: argument parsing and printing, nothing else."""

from clinker.cli.safe_path import forget_working_directory

forget_working_directory()
