"""What a case gives to sources, as files that they read instead of their own."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from clinker.config.case import Case, Given
from clinker.config.formats.csv import CsvReading
from clinker.config.formats.json import JsonReading
from clinker.config.nodes import SourceNode
from clinker.config.nodes.source import SourceConfig
from clinker.config.transport import RestTransport
from clinker.diagnostics import Diagnostic, Label
from clinker.diagnostics.suggest import did_you_mean
from clinker.engine.report.views import show_value
from clinker.formats.common.coercion import to_json_text
from clinker.formats.common.json_numbers import dumps
from clinker.formats.common.unfolding import split_path
from clinker.plan.compile import Plan
from clinker.plan.options import GivenFile

CODE = "test"
"""Under which a finding about a case is told; it is no rule of the language, so it has no page."""

_WRITTEN = ("csv", "json", "parquet")
"""The formats that records are written in."""


def given_problems(plan: Plan, case: Case) -> Iterator[Diagnostic]:
    """What is wrong with what a case gives to the sources of a pipeline."""
    sources = {unit.name: node.config for unit, node in plan.graph.of(SourceNode)}
    for name, given in case.given.items():
        if name not in sources:
            known = did_you_mean(name, sources) or f"its sources are: {', '.join(sources)}"
            label = Label(case.key_at("given", name))
            yield Diagnostic(CODE, f"the pipeline has no source '{name}'", label, help=known)
        elif given.records is not None and sources[name].type not in _WRITTEN:
            yield given.problem(
                CODE,
                "records can be given to CSV, JSON and Parquet sources; "
                f"'{name}' is {sources[name].type}",
                "records",
                help="give it 'text' or a 'file'",
            )
    for name, config in sources.items():
        if isinstance(config.transport, RestTransport) and name not in case.given:
            yield case.problem(
                CODE,
                f"the source '{name}' reads a web service, which tests do not",
                "name",
                help="say under 'given' what it reads",
            )


def write_given(plan: Plan, case: Case, tests: Path, folder: Path) -> dict[str, GivenFile]:
    """Files with what a case gives, made in a folder unless they are there already."""
    files: dict[str, GivenFile] = {}
    for number, (unit, node) in enumerate(plan.graph.of(SourceNode)):
        given = case.given.get(unit.name)
        if given is None:
            continue
        if given.file is not None:
            path = tests / given.file
            files[unit.name] = GivenFile(path, given.file, is_packed=True)
            continue
        path = folder / f"{number}"
        path.write_bytes(_content(node.config, given))
        files[unit.name] = GivenFile(path, _shown_name(unit.name, node.config))
    return files


def _shown_name(source: str, config: SourceConfig) -> str:
    return config.path or f"{source}.{config.type}"


def _content(config: SourceConfig, given: Given) -> bytes:
    if given.content is not None:
        return given.content.encode(_encoding(config))
    assert given.records is not None
    if config.type == "csv":
        return _as_csv(config, given.records).encode(_encoding(config))
    if config.type == "parquet":
        return _as_parquet(given.records)
    return _as_json(cast(JsonReading, config.options), given.records)


def _encoding(config: SourceConfig) -> str:
    return getattr(config.options, "encoding", None) or "utf-8"


def _as_csv(config: SourceConfig, records: Sequence[Mapping[str, Any]]) -> str:
    """Records as lines of cells: the columns of the schema, then others that records have."""
    options = cast(CsvReading, config.options)
    names = [column.name for column in config.schema_columns]
    names = list(dict.fromkeys([*names, *(name for record in records for name in record)]))
    stream = io.StringIO(newline="")
    writer = csv.writer(
        stream,
        delimiter=options.delimiter,
        quotechar=options.quote_char,
        lineterminator="\n",
    )
    if options.has_header:
        writer.writerow(names)
    for record in records:
        values = (record.get(name) for name in names)
        writer.writerow(["" if value is None else show_value(value) for value in values])
    return stream.getvalue()


def _as_json(options: JsonReading, records: Sequence[Mapping[str, Any]]) -> bytes:
    """Records in the form in which the source expects them."""
    objects = [dumps(dict(record)) for record in records]
    if options.record_path is None and options.format in (None, "ndjson"):
        return b"".join(each + b"\n" for each in objects)
    if options.record_path is None and options.format == "object" and len(objects) == 1:
        return objects[0]
    steps = [dumps(step) for step in split_path(options.record_path or "")]
    opening = b"".join(b"{" + step + b": " for step in steps)
    return opening + b"[" + b",\n".join(objects) + b"]" + b"}" * len(steps)


def _as_parquet(records: Sequence[Mapping[str, Any]]) -> bytes:
    """Records as rows; what is not all of one kind becomes texts, as the source reads them too."""
    names = dict.fromkeys(name for record in records for name in record)
    columns = {name: _as_array([record.get(name) for record in records]) for name in names}
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def _as_array(values: Sequence[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        texts = (None if value is None else to_json_text(value) for value in values)
        return pa.array(texts, pa.string())
