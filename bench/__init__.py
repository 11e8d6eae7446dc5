"""Benchmarks: this system beside hand-written PySpark, DuckDB and Polars."""
