"""The run that is watched to make the ahead-of-time cache: a bit of everything pipelines do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.functions import expr

from clinker.engine.session import aot
from clinker.engine.session.classic import attach
from clinker.engine.session.command import fixed_flags
from clinker.engine.session.java import find_java
from clinker.engine.session.jvm import Jvm, spark_home
from clinker.engine.session.settings import SessionError, SessionSettings
from clinker.engine.session.unsigned import make_unsigned_copies

if TYPE_CHECKING:
    from clinker.engine.session.session import Session

_ROUNDS = 3
_ASSEMBLY_SECONDS = 600
_EXPRESSIONS = (
    "*",
    "amount * 2 AS doubled",
    "try_divide(amount, quantity) AS price",
    "try_cast(code AS BIGINT) AS number",
    "coalesce(try_to_timestamp(code, 'yyyy-MM-dd'), placed) AS moment",
    "if(quantity > 2, upper(trim(name)), lower(name)) AS label",
    "CASE WHEN name LIKE 'a%' THEN 'a' WHEN name RLIKE '^b' THEN 'b' ELSE 'c' END AS kind",
    "regexp_replace(name, '[aeiou]', '') AS consonants",
    "concat_ws('-', substring(name, 1, 2), lpad(string(quantity), 5, '0')) AS key",
    "from_json(tags, 'array<string>') AS tag_list",
    "from_json(attributes, 'map<string,string>') AS attribute_map",
    "transform(split(name, ','), part -> length(part)) AS lengths",
    "date_format(placed, 'yyyy-MM') AS month",
    "datediff(date(placed), date'2024-01-01') AS days",
    "named_struct('site', 1, 'inputs', string(quantity)) AS reject",
)


def build_cache(practise_more: Callable[[Session], None]) -> Path | None:
    """The cache for the Java and Spark at hand, built unless it is there.

    None for a Java that cannot use one. What is practised besides is the work of those who know
    pipelines.
    """
    if aot.cache_directory() is None:
        raise SessionError("there is no home directory to keep the cache in: set XDG_CACHE_HOME")
    java = find_java(os.environ)
    file = aot.cache_file(java, fixed_flags(java), spark_home())
    if file is None or file.is_file():
        return file
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        make_unsigned_copies(sorted((spark_home() / "jars").glob("*.jar")), file)
        unfinished = file.with_suffix(f".{os.getpid()}")
        _train(unfinished, practise_more)
        unfinished.replace(file)
        for other in aot.outdated(file):
            other.unlink(missing_ok=True)
    except OSError as problem:
        raise SessionError(f"cannot write '{file}': {problem.strerror}") from problem
    return file


def _train(file: Path, practise_more: Callable[[Session], None]) -> None:
    jvm = Jvm(SessionSettings(memory_limit=2**30), train=file)
    with attach(jvm) as session:
        for _ in range(_ROUNDS):
            practise(session)
            practise_more(session)
        jvm.finish(_ASSEMBLY_SECONDS)


def practise(session: Session) -> None:
    """Some of what pipelines ask for."""
    orders = session.spark.createDataFrame(_orders())
    derived = orders.selectExpr(*_EXPRESSIONS).filter("quantity > 1 AND NOT isnull(name)")
    derived.toArrow()
    derived.repartition(2).orderBy("$pos").toArrow()
    totals = derived.groupBy("kind").agg(
        expr("count(*) AS n"), expr("sum(amount) AS total"), expr("min_by(name, `$pos`) AS first")
    )
    totals.orderBy("kind").toArrow()
    derived.join(totals, "kind", "left").orderBy("$pos").toArrow()
    derived.hint("merge").join(totals, "kind").toArrow()
    derived.selectExpr(
        "*", "row_number() OVER (PARTITION BY kind ORDER BY `$pos`) AS row"
    ).toArrow()
    derived.selectExpr("`$pos`", "explode_outer(tag_list) AS tag").toArrow()
    plain = derived.select("$pos", "name", "doubled")
    session.engine.map_in_arrow(plain.union(plain), _unchanged, plain.schema).toArrow()


def _orders() -> pa.Table:
    count = 50
    numbers = list(range(count))
    return pa.table(
        {
            "$pos": pa.array(numbers, pa.int64()),
            "$source": pa.array([0] * count, pa.int32()),
            "name": [f"{'abc'[n % 3]}lpha,{n}" for n in numbers],
            "code": [str(n) if n % 7 else "2024-01-15" for n in numbers],
            "quantity": pa.array([n % 5 for n in numbers], pa.int64()),
            "amount": [n * 1.5 if n % 11 else None for n in numbers],
            "tags": ['["\\"a","2.5",7]'] * count,
            "attributes": ['{"k":"\\"v"}'] * count,
            "placed": pa.array([datetime(2024, 1, 15, 10, 30)] * count, pa.timestamp("us")),
        }
    )


def _unchanged(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches
