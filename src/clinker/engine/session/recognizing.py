"""Which engine it is: by its name, or behind a session that somebody else has opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from clinker.engine.session.engine import Engine
from clinker.engine.session.sail_engine import SailEngine
from clinker.engine_names import EngineName

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def is_remote(spark: SparkSession) -> bool:
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def engine_named(name: EngineName) -> Engine:
    match name:
        case "spark":
            return Engine()
        case "sail":
            return SailEngine()
        case other:
            assert_never(other)


def engine_of(spark: SparkSession) -> Engine:
    return engine_named("sail" if is_sail(spark) else "spark")


def is_sail(spark: SparkSession) -> bool:
    """Whether Sail answers. It gives Spark's version as that of the session, and its own in SQL."""
    if not is_remote(spark):
        return False
    (row,) = spark.sql("SELECT version()").collect()
    return not str(row[0]).startswith(spark.version)
