"""How fast each format is read: by its reader alone, in one process, beside other parsers.

Rates are megabytes per second of one core. Parsers that would take minutes read the beginning of
the file only.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median

from bench.format_files import LAYOUT, make_formats
from clinker.engine.reading.inputs import open_inputs
from clinker.engine.reading.spooling import run_spool
from clinker.engine.rejects.sites import Sites
from clinker.engine.report.facts import identify
from clinker.engine.run.observer import Quiet
from clinker.formats.reading import read_split
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options

MEGABYTES = 200
_SAMPLE = 10 * 10**6
"""What slow parsers read, in bytes."""

_ORDERS = """
      schema: { id: int, customer: string, product: string, region: string, status: string,
                amount: float, quantity: int, day: date }"""
_SOURCES = {
    "csv": _ORDERS,
    "fixed_width": f"{_ORDERS}\n      format_schema:\n        fields:{LAYOUT}",
    "xml": f"{_ORDERS.replace('id: int', chr(34) + '@id' + chr(34) + ': int')}\n"
    "      options: { record_path: /orders/order }",
    "x12": "\n      options: { max_elements: 9 }\n      schema: { seg_id: string, set_ref: string, "
    "set_type: string, e01: string, e02: string, e03: string, e04: string, e05: string, "
    "e06: string, e07: string, e08: string, e09: string }",
    "edifact": "\n      options: { max_elements: 6 }\n      schema: { seg_id: string, "
    "msg_ref: string, msg_type: string, e01: string, e02: string, e03: string, e04: string, "
    "e05: string, e06: string }",
}


def read_here(format: str, path: Path) -> int:
    """All records by the reader of the format, looked through and read in this process."""
    text = f"""
pipeline: {{ name: bench }}
nodes:
  - type: source
    name: orders
    config:
      type: {format}
      path: {path.name}{_SOURCES[format]}
  - {{ type: output, name: out, input: orders, config: {{ type: json, path: out.json }} }}
"""
    pipeline = path.parent / "pipeline.yaml"
    compiled = compile_pipeline(text.encode(), str(pipeline), Options(base_dir=path.parent))
    assert compiled.plan, compiled.diagnostics
    plan = compiled.plan
    with run_spool(plan) as spool:
        (source,) = open_inputs(plan, identify(None), Sites(), spool, Quiet(), whole=True)
        return sum(
            batch.num_rows
            for split in source.inventory.splits
            for batch in read_split(source.spec, source.inventory, split)
        )


def iterate_xml(path: Path) -> int:
    """What a script would do: a dict per record, elements cleared behind it."""
    from lxml import etree

    records = 0
    for _, element in etree.iterparse(str(path), tag="order"):
        record = {child.tag: child.text for child in element}
        record["@id"] = element.get("id")
        records += 1
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]
    return records


def read_pandas(path: Path) -> int:
    import pandas as pd

    return len(pd.read_xml(path, xpath="/orders/order"))


def read_pyx12(path: Path) -> int:
    from pyx12.x12file import X12Reader

    return sum(1 for _ in X12Reader(str(path)))


def read_pydifact(path: Path) -> int:
    from pydifact.parser import Parser

    return sum(1 for _ in Parser().parse(path.read_text()))


OTHERS: Mapping[str, Mapping[str, Callable[[Path], int]]] = {
    "xml": {"lxml.iterparse": iterate_xml, "pandas.read_xml": read_pandas},
    "x12": {"pyx12": read_pyx12},
    "edifact": {"pydifact": read_pydifact},
}


def measure(repeat: int, megabytes: int = MEGABYTES) -> dict[str, dict[str, float]]:
    """Megabytes per second of one core, by format and reader; `rows` are our rows per second."""
    folder = Path(tempfile.gettempdir(), f"clinker-bench-formats-{megabytes}")
    paths = make_formats(folder, megabytes)
    rates: dict[str, dict[str, float]] = {}
    for format, path in paths.items():
        print(f"measuring: {format}", flush=True)
        sample = _sample(path)
        jobs = {"clinker": (path, partial(read_here, format))} | {
            name: (sample, read) for name, read in OTHERS.get(format, {}).items()
        }
        seconds: dict[str, list[float]] = {name: [] for name in jobs}
        rows = 0
        for _ in range(repeat):
            for name, (file, read) in jobs.items():
                began = time.process_time()
                count = read(file)
                seconds[name].append(time.process_time() - began)
                rows = count if name == "clinker" else rows
        rates[format] = {
            name: jobs[name][0].stat().st_size / 10**6 / median(times)
            for name, times in seconds.items()
        }
        rates[format]["rows"] = rows / median(seconds["clinker"])
        print({name: round(rate, 1) for name, rate in rates[format].items()})
    return rates


def _sample(path: Path) -> Path:
    """The beginning of a file, as a whole one of its own."""
    sample = path.with_suffix(f".sample{path.suffix}")
    if not sample.exists():
        with path.open("rb") as file:
            head = file.read(_SAMPLE)
        cut = head[: head.rindex(b"\n") + 1]
        sample.write_bytes(cut + (b"</orders>\n" if path.suffix == ".xml" else b""))
    return sample


def report(rates: Mapping[str, Mapping[str, float]], machine: str) -> str:
    """The rates in Markdown."""
    lines = [
        "# How fast formats are read",
        "",
        "Megabytes a second of one core, and in brackets how many times as fast this system is. "
        f"Files of the same orders, {MEGABYTES} MB each, looked through and read by the reader of "
        "the format in one process; other parsers read the first 10 MB. Medians of runs that take "
        "turns; `scripts/bench --formats` repeats them.",
        "",
        f"{machine}.",
        "",
        "| Format | clinker | Others |",
        "|---|---:|---|",
    ]
    for format, found in rates.items():
        others = ", ".join(
            f"{name} {rate:.1f} ({found['clinker'] / rate:.1f})"
            for name, rate in found.items()
            if name not in ("clinker", "rows")
        )
        lines.append(f"| {format} | {found['clinker']:.0f} | {others} |")
    ratio = rates["fixed_width"]["rows"] / rates["csv"]["rows"]
    lines += [
        "",
        f"Rows of fixed-width files are read {ratio:.2f} times as fast as those of CSV.",
        "",
    ]
    return "\n".join(lines)
