"""The dead-letter files of a run, and what becomes of entries that no file takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import orjson
import pyarrow as pa

from clinker.cxl.syntax.ast import TraceLevel
from clinker.engine.reading.inputs import SourceInput
from clinker.engine.rejects.entries import Rejected
from clinker.engine.run.observer import Observer
from clinker.engine.writing.destinations import dead_letter_target
from clinker.formats.files.dead_letter_file import Entries, prepare_dead_letter_file
from clinker.formats.files.publication import Publication
from clinker.plan.compile import Plan
from clinker.stores.urls import FilePath


def prepare_files(
    plan: Plan, rejected: Rejected, inputs: Sequence[SourceInput], publication: Publication
) -> None:
    """Prepare the dead-letter files, each with the entries of its sources.

    A file of an earlier run that would be replaced vanishes if there is nothing to replace it with.
    """
    dlq = plan.pipeline.error_handling.dlq
    if dlq.include_source_row and plan.dead_letters.files:
        rejected = rejected.whole()
        rejected = _with_keys(plan, rejected)
    rejected = rejected.told()
    columns = _source_columns(plan, rejected, inputs) if dlq.include_source_row else []
    for path in plan.dead_letters.files:
        entries = _entries_to(path, plan, rejected)
        target = dead_letter_target(plan, path)
        written = prepare_dead_letter_file(
            publication,
            target,
            entries,
            source_columns=columns,
            include_reason=dlq.include_reason,
            include_source_row=dlq.include_source_row,
        )
        if not written and target.if_exists == "overwrite":
            publication.remove(path)


def _with_keys(plan: Plan, rejected: Rejected) -> Rejected:
    """The entries with the fields by which records fall together once more, as they were read."""
    keys = plan.correlation.sources
    if not keys:
        return rejected
    columns = rejected.entries.columns
    is_group = iter(rejected.places.is_group.tolist())
    origins: list[pa.Array] = []
    for batch in rejected.entries.batches():
        texts: list[str | None] = []
        # In this order none of the marks is lost when a batch ends.
        rows = zip(
            batch["origin"].to_pylist(), batch["source_name"].to_pylist(), is_group, strict=False
        )
        for origin, source, is_of_group in rows:
            if origin is None or is_of_group or source not in keys:
                texts.append(origin)
                continue
            record = orjson.loads(origin)
            own = {f"$ck.{name}": record[name] for name in keys[source].fields if name in record}
            texts.append(orjson.dumps(record | own).decode())
        origins.append(pa.array(texts, pa.string()))
    at = columns.column_names.index("origin")
    column = pa.chunked_array(origins, pa.string())
    return replace(rejected, entries=Entries(columns.set_column(at, "origin", column)))


def _source_columns(plan: Plan, rejected: Rejected, inputs: Sequence[SourceInput]) -> list[str]:
    """The fields of all sources: declared ones in order, then what else their records have.

    Behind those of a source stand the keys by which its records fall together. Of the rest, what
    headers tell comes first, as declared fields do in the order of the sources.
    """
    keys = plan.correlation.sources
    columns: dict[str, None] = {}
    for source in inputs:
        columns |= dict.fromkeys(column.name for column in source.spec.columns)
        if source.name in keys:
            columns |= dict.fromkeys(f"$ck.{name}" for name in keys[source.name].fields)
    others: dict[str, None] = {}
    for batch in rejected.entries.batches():
        origins = ",".join(batch["origin"].drop_null().to_pylist())
        for record in orjson.loads(f"[{origins}]"):
            if not record.keys() <= others.keys():
                others |= dict.fromkeys(record)
    in_headers = [
        name for source in inputs for name in source.inventory.undeclared if name in others
    ]
    return list(columns | dict.fromkeys(in_headers) | others)


def log_unfiled(plan: Plan, rejected: Rejected, observer: Observer) -> None:
    """Tell about entries that no file takes; a preview writes none."""
    rejected = rejected.told()
    entries = rejected.entries if plan.options.preview else _entries_to(None, plan, rejected)
    for entry in entries:
        where = f"{entry.source_file} row {entry.source_row}: " if entry.source_file else ""
        text = f"rejected: {where}{entry.category}: {entry.detail}"
        observer.logged(TraceLevel.WARN, text, entry.node)


def _entries_to(path: FilePath | None, plan: Plan, rejected: Rejected) -> Entries:
    """The entries that go to a file, or to none."""
    paths, common = plan.dead_letters.paths, plan.dead_letters.common_path
    sources = [name for name in rejected.by_source if paths.get(name, common) == path]
    return rejected.entries.of_sources(sources)
