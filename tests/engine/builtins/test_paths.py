"""Methods of file paths mean the same to Spark and to the interpreter."""

from __future__ import annotations

import itertools

from pyspark.sql import SparkSession

from clinker.cxl.types import STRING
from tests.engine.expressions.running import agree

METHODS = ["file_name", "file_stem", "extension", "parent", "parent_name"]


def test_every_short_path(spark: SparkSession) -> None:
    parts = ["/", ".", "a", ".b"]
    paths = ["".join(each) for n in range(7) for each in itertools.product(parts, repeat=n)]
    records = [{"p": path} for path in paths]
    agree(spark, [f"p.{name}()" for name in METHODS], records, {"p": STRING})


def test_unusual_paths(spark: SparkSession) -> None:
    paths = [
        *(
            "/data/ü😀.é😀",
            "a\nb/c\n.d\n",
            "\\a\\b.c",
            "a/\0.\0",
            " / . ",
            "a/b.\u0301",
            "\n/",
            "/.\n",
        ),
        *("/" * 1_000_000, "/" * 500_000 + "x", "/." * 400_000 + "/x", "a" * 1_000_000, None),
    ]
    agree(spark, [f"p.{name}()" for name in METHODS], [{"p": path} for path in paths])
