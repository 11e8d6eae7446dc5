"""Frames of tests: DataFrames as inputs of descriptions, and descriptions as DataFrames."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from clinker.engine.expressions import Layer
from clinker.engine.flow import layers
from clinker.engine.flow.frame import Frame, Input
from clinker.engine.session.recognizing import engine_of
from clinker.engine.session.session import EngineFacts, Session


def frame_of(data: DataFrame) -> Frame:
    """A frame that stands on a DataFrame."""
    return Input(tuple(data.columns), "a test", lambda _: data)


def session_of(spark: SparkSession) -> Session:
    """A session that forgets what it builds when the test does."""
    facts = EngineFacts("spark", spark.version, "test", None)
    return Session(spark, facts, lambda: None, engine=engine_of(spark))


def data_frame(spark: SparkSession, frame: Frame) -> DataFrame:
    """What a frame describes."""
    return session_of(spark).data_frame(frame)


def with_layers(spark: SparkSession, data: DataFrame, added: Sequence[Layer]) -> DataFrame:
    """A DataFrame with the columns of layers."""
    return data_frame(spark, layers.with_layers(frame_of(data), added))
