"""Declarative batch ETL on Spark."""

__version__ = "0.1.0"
