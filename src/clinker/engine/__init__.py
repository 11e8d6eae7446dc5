"""Plans as Spark DataFrames: how the nodes of a pipeline run."""
