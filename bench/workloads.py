"""What is measured: the same job for every system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ORDERS = """
      schema:
        - { name: id, type: int }
        - { name: customer, type: string }
        - { name: product, type: string }
        - { name: region, type: string }
        - { name: status, type: string }
        - { name: amount, type: float }
        - { name: quantity, type: int }
        - { name: day, type: date }"""
_ORDERS_DDL = (
    "id bigint, customer string, product string, region string, status string, amount double, "
    "quantity bigint, day date"
)


@dataclass(frozen=True)
class Workload:
    """A job: its pipeline, and the same in PySpark, DuckDB and Polars."""

    name: str
    pipeline: str
    spark: Callable[[SparkSession, Path, Path], None]
    duckdb: str
    """SQL; `{data}` is the folder of the inputs, `{out}` the file to write."""
    polars: Callable[[Path, Path], None]


def _source(name: str, file: str, schema: str = _ORDERS, kind: str = "csv") -> str:
    return f"""
  - type: source
    name: {name}
    config:
      type: {kind}
      path: {file}{schema}"""


def _pipeline(nodes: str, handling: str = "") -> str:
    return f"pipeline: {{ name: bench }}\nnodes:{nodes}\n{handling}"


def _output(upstream: str, kind: str = "csv") -> str:
    return f"""
  - type: output
    name: out
    input: {upstream}
    config: {{ type: {kind}, path: out.{kind}, include_unmapped: false, if_exists: overwrite }}"""


_DERIVE = """
  - type: transform
    name: derived
    input: orders
    config:
      cxl: |
        filter status == "active"
        emit id = id
        emit customer = customer.upper()
        emit total = amount * quantity.to_float()
        emit band = if amount >= 5000.0 then "high" else "low"
        emit day = day"""


def _spark_derive(file: str) -> Callable[[SparkSession, Path, Path], None]:
    def run(spark: SparkSession, data: Path, out: Path) -> None:
        frame = spark.read.csv(str(data / file), schema=_ORDERS_DDL, header=True)
        frame.where("status = 'active'").selectExpr(
            "id",
            "upper(customer) as customer",
            "amount * quantity as total",
            "if(amount >= 5000, 'high', 'low') as band",
            "day",
        ).write.mode("overwrite").csv(str(out), header=True)

    return run


def _polars_derive(file: str) -> Callable[[Path, Path], None]:
    def run(data: Path, out: Path) -> None:
        import polars as pl

        frame = pl.scan_csv(
            data / file, schema_overrides={"amount": pl.Float64}, ignore_errors=True
        )
        frame.filter(pl.col("status") == "active").select(
            "id",
            pl.col("customer").str.to_uppercase(),
            (pl.col("amount") * pl.col("quantity")).alias("total"),
            pl.when(pl.col("amount") >= 5000)
            .then(pl.lit("high"))
            .otherwise(pl.lit("low"))
            .alias("band"),
            "day",
        ).sink_csv(out)

    return run


def _duckdb_derive(file: str) -> str:
    return (
        "copy (select id, upper(customer) as customer, amount * quantity as total, "
        "if(amount >= 5000, 'high', 'low') as band, day "
        f"from read_csv('{{data}}/{file}', ignore_errors=true, types={{{{'amount': 'DOUBLE'}}}}) "
        "where status = 'active') to '{out}' (header)"
    )


def _group(key: str) -> Workload:
    def spark(session: SparkSession, data: Path, out: Path) -> None:
        frame = session.read.csv(str(data / "orders.csv"), schema=_ORDERS_DDL, header=True)
        frame.groupBy(key).agg({"amount": "sum", "quantity": "avg", "id": "count"}).write.mode(
            "overwrite"
        ).csv(str(out), header=True)

    def polars(data: Path, out: Path) -> None:
        import polars as pl

        frame = pl.scan_csv(data / "orders.csv")
        frame.group_by(key, maintain_order=True).agg(
            pl.col("amount").sum(), pl.col("quantity").mean(), pl.len().alias("n")
        ).collect().write_csv(out)

    nodes = f"""
  - type: aggregate
    name: groups
    input: orders
    config:
      group_by: [{key}]
      cxl: |
        emit total = sum(amount)
        emit average = avg(quantity)
        emit n = count(*)"""
    return Workload(
        f"group by {key}",
        _pipeline(_source("orders", "orders.csv") + nodes + _output("groups")),
        spark,
        f"copy (select {key}, sum(amount), avg(quantity), count(*) "
        f"from read_csv('{{data}}/orders.csv') group by {key}) to '{{out}}' (header)",
        polars,
    )


def _join() -> Workload:
    def spark(session: SparkSession, data: Path, out: Path) -> None:
        frame = session.read.csv(str(data / "orders.csv"), schema=_ORDERS_DDL, header=True)
        ddl = "product string, title string, price double"
        found = session.read.csv(str(data / "products.csv"), schema=ddl, header=True)
        frame.join(found, "product", "left").selectExpr(
            "id", "product", "title", "price * quantity as total"
        ).write.mode("overwrite").csv(str(out), header=True)

    def polars(data: Path, out: Path) -> None:
        import polars as pl

        found = pl.scan_csv(data / "products.csv")
        pl.scan_csv(data / "orders.csv").join(found, on="product", how="left").select(
            "id", "product", "title", (pl.col("price") * pl.col("quantity")).alias("total")
        ).collect().write_csv(out)

    catalogue = """
      schema:
        - { name: product, type: string }
        - { name: title, type: string }
        - { name: price, type: float }"""
    nodes = """
  - type: combine
    name: priced
    input: { orders: orders, products: products }
    config:
      where: orders.product == products.product
      match: first
      on_miss: null_fields
      propagate_ck: driver
      cxl: |
        emit id = orders.id
        emit product = orders.product
        emit title = products.title
        emit total = products.price * orders.quantity.to_float()"""
    return Workload(
        "join 1.5 M with 50 k",
        _pipeline(
            _source("orders", "orders.csv")
            + _source("products", "products.csv", catalogue)
            + nodes
            + _output("priced")
        ),
        spark,
        "copy (select id, o.product, title, price * quantity as total from "
        "read_csv('{data}/orders.csv') o left join read_csv('{data}/products.csv') p "
        "on o.product = p.product) to '{out}' (header)",
        polars,
    )


def _nested() -> Workload:
    def spark(session: SparkSession, data: Path, out: Path) -> None:
        ddl = (
            "id bigint, customer string, "
            "lines array<struct<sku: string, qty: bigint, price: double>>"
        )
        frame = session.read.schema(ddl).json(str(data / "nested.ndjson"))
        frame.selectExpr("id", "customer", "explode(lines) as line").selectExpr(
            "id", "customer", "line.sku as sku", "line.qty * line.price as total"
        ).write.mode("overwrite").json(str(out))

    def polars(data: Path, out: Path) -> None:
        import polars as pl

        pl.read_ndjson(data / "nested.ndjson").explode("lines").unnest("lines").select(
            "id", "customer", "sku", (pl.col("qty") * pl.col("price")).alias("total")
        ).write_ndjson(out)

    schema = """
      options: { format: ndjson }
      schema:
        - { name: id, type: int }
        - { name: customer, type: string }
        - { name: lines, type: array }"""
    nodes = """
  - type: transform
    name: unfolded
    input: orders
    config:
      cxl: |
        emit id = id
        emit customer = customer
        emit each line in lines {
          emit sku = line.sku
          emit total = line.qty * line.price
        }"""
    return Workload(
        "NDJSON with nested arrays",
        _pipeline(
            _source("orders", "nested.ndjson", schema, "json") + nodes + _output("unfolded", "json")
        ),
        spark,
        "copy (select id, customer, l.sku, l.qty * l.price as total from (select id, customer, "
        "unnest(lines) as l from read_json('{data}/nested.ndjson'))) to '{out}' (format json)",
        polars,
    )


def _wide() -> Workload:
    floats = [f"f{n}" for n in range(10)]
    ints = [f"i{n}" for n in range(10)]
    texts = [f"t{n}" for n in range(30)]
    names = [x for pair in zip(floats, ints, strict=True) for x in pair] + texts
    types = {**dict.fromkeys(floats, "float"), **dict.fromkeys(ints, "int")}
    ddl = ", ".join(
        f"{n} {'double' if n in floats else 'bigint' if n in ints else 'string'}" for n in names
    )

    def spark(session: SparkSession, data: Path, out: Path) -> None:
        frame = session.read.csv(str(data / "wide.csv"), schema=ddl, header=True)
        frame.selectExpr("*", "f0 + f1 as s", "concat(t0, t1) as c").write.mode("overwrite").csv(
            str(out), header=True
        )

    def polars(data: Path, out: Path) -> None:
        import polars as pl

        pl.scan_csv(data / "wide.csv").with_columns(
            (pl.col("f0") + pl.col("f1")).alias("s"), (pl.col("t0") + pl.col("t1")).alias("c")
        ).sink_csv(out)

    schema = "\n      schema:" + "".join(
        f"\n        - {{ name: {n}, type: {types.get(n, 'string')} }}" for n in names
    )
    nodes = """
  - type: transform
    name: more
    input: wide
    config:
      cxl: |
        emit s = f0 + f1
        emit c = t0 + t1"""
    output = """
  - type: output
    name: out
    input: more
    config: { type: csv, path: out.csv, if_exists: overwrite }"""
    return Workload(
        "50 columns",
        _pipeline(_source("wide", "wide.csv", schema) + nodes + output),
        spark,
        "copy (select *, f0 + f1 as s, t0 || t1 as c from read_csv('{data}/wide.csv')) "
        "to '{out}' (header)",
        polars,
    )


def derive(name: str, file: str, handling: str = "") -> Workload:
    return Workload(
        name,
        _pipeline(_source("orders", file) + _DERIVE + _output("derived"), handling),
        _spark_derive(file),
        _duckdb_derive(file),
        _polars_derive(file),
    )


_CONTINUE = """error_handling:
  strategy: continue
  dlq: { path: rejected.csv, if_exists: overwrite }"""

TINY = derive("tiny file, cold", "tiny.csv")
CLEAN = derive("filter and derive", "orders.csv", _CONTINUE)
DIRTY = derive("filter and derive, 1 % rejected", "dirty.csv", _CONTINUE)
WARM = (CLEAN, DIRTY, _group("region"), _group("customer"), _join(), _nested(), _wide())


def chain(length: int) -> str:
    """A pipeline of transforms, each of which filters, emits a field and may reject records."""
    nodes = [
        "  - { type: source, name: t0, config: "
        "{ type: csv, path: in.csv, schema: { id: int, amount: float } } }"
    ]
    nodes += [
        f"  - {{ type: transform, name: t{n}, input: t{n - 1}, config: "
        f'{{ cxl: "filter id >= -{n}\\nemit c{n} = amount * {n} + id" }} }}'
        for n in range(1, length + 1)
    ]
    nodes.append(
        f"  - {{ type: output, name: out, input: t{length}, config: "
        "{ type: csv, path: out.csv } }"
    )
    return "\n".join(["pipeline: { name: chain }", "nodes:", *nodes, ""])
