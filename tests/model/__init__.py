"""A naive model of what a run does with its records, and random pipelines held against it."""
