from pyspark.sql import SparkSession

from tests.engine.expressions.running import agree


def test_arithmetic(spark: SparkSession) -> None:
    agree(
        spark,
        [
            "a + b",
            "a - b",
            "a * b",
            "a / b",
            "a % b",
            "-a",
            "a < b",
            "a == b",
            "a ?? 5",
            "if a > b then a else 1 / b",
            "[a, b]",
            '{"x": a, "y\\n": b}',
            "[a,b][1]",
            '{"x": a}["x"]',
            "a > 0 and 1 / b > 0",
            "a > 0 or 1 / b > 0",
            "not (a > b)",
            "match a { 1 => b, 2 => 1 / b, _ => 7}",
        ],
        [
            {"a": 1, "b": 2},
            {"a": 5, "b": 0},
            {"a": 2**63 - 1, "b": 1},
            {"a": -(2**63), "b": -1},
            {"a": None, "b": 0},
            {"a": 7, "b": -2},
            {"a": -7, "b": 2},
        ],
    )
