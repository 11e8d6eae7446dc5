"""JSON files: one object per record, in an array, one per line, or somewhere inside a document."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, TypeAlias

import pyarrow as pa

from clinker.formats.coercion import Coerced, Coercion
from clinker.formats.encodings import opened
from clinker.formats.json_fields import LineFields
from clinker.formats.json_members import Unlike
from clinker.formats.json_records import (
    Record,
    Records,
    WholeRecords,
    document_records,
    line_records,
    unfolding,
)
from clinker.formats.read_spec import (
    WIDENED,
    FormatError,
    InputFile,
    Inventory,
    JsonDialect,
    ReadSpec,
    Split,
)
from clinker.formats.rejecting import (
    assemble,
    find_rejections,
    tagged_maps,
    unlike_record,
)
from clinker.formats.tagging import Unfit, tagged_column

_CACHED_RECORDS = 1 << 10
"""How many records are converted at a time: what they are made of should stay in the cache."""
_BATCH_PARTS = 8
_DEEPEST = 250


def read_split(
    spec: ReadSpec, dialect: JsonDialect, inventory: Inventory, split: Split
) -> Iterator[pa.RecordBatch]:
    """The records of a split in their order, the rejected ones among them."""
    parts = _small_batches(spec, dialect, inventory, split)
    while some := list(islice(parts, _BATCH_PARTS)):
        yield from pa.Table.from_batches(some).combine_chunks().to_batches()


def _small_batches(
    spec: ReadSpec, dialect: JsonDialect, inventory: Inventory, split: Split
) -> Iterator[pa.RecordBatch]:
    parts = _parts(spec, dialect, inventory, split)
    conversion = _Conversion(spec, inventory, split.file)
    row = split.first_row
    while True:
        with _uncollected():
            try:
                batch = _next_batch(parts, conversion, row, split.file.path)
            except Unlike:
                yield unlike_record(spec, inventory.schema, split.file.position(row))
                return
        if batch is None:
            return
        yield batch
        row += batch.num_rows


def _next_batch(
    parts: Iterator[Records], conversion: _Conversion, row: int, path: str
) -> pa.RecordBatch | None:
    records = next(parts, None)
    if records is None:
        return None
    try:
        return conversion.batch(records, row)
    except (RecursionError, TypeError, Unfit):
        _refuse_nested(records, row, path)
        raise


def _parts(
    spec: ReadSpec, dialect: JsonDialect, inventory: Inventory, split: Split
) -> Iterator[Records]:
    """The records of a split, not too many at a time."""
    columns = spec.converted_columns
    if (
        inventory.layouts[split.file.index].form == "ndjson"
        and spec.undeclared == "drop"
        and not (spec.array_paths or dialect.record_path)
        and not any("." in column.name for column in columns)
    ):
        fields = LineFields(columns, inventory.members)
        yield from fields.read(_bytes_of(split), split.start, split.file.path)
        return
    records = _records(spec, dialect, inventory, split)
    while found := list(islice(records, _CACHED_RECORDS)):
        yield WholeRecords(found)


def count_records(spec: ReadSpec, dialect: JsonDialect, inventory: Inventory, split: Split) -> int:
    """How many records a split has that is a whole document."""
    return sum(1 for _ in _records(spec, dialect, inventory, split))


def _records(
    spec: ReadSpec, dialect: JsonDialect, inventory: Inventory, split: Split
) -> Iterator[Record]:
    form = inventory.layouts[split.file.index].form
    assert form is not None
    path = split.file.path
    data = _bytes_of(split)
    if form == "ndjson":
        records = line_records(data, split.start, path)
        unfold = unfolding(spec.array_paths, dialect.record_path, path)
    else:
        records = document_records(data, form, dialect.record_path, path)
        unfold = unfolding(spec.array_paths)
    return chain.from_iterable(map(unfold, records)) if unfold else records


def _bytes_of(split: Split) -> bytes:
    with opened(split.file.path) as stream:
        stream.seek(split.start)
        return stream.read(split.end - split.start)


def _refuse_nested(records: Records, first_row: int, path: str) -> None:
    """FormatError about a record that is nested so deeply that what reads it gives up."""
    for row in range(first_row, first_row + len(records)):
        level: list[Any] = [records.whole(row - first_row)]
        for _ in range(_DEEPEST):
            level = [inner for value in level for inner in _inside(value)]
        if level:
            raise FormatError(f"record {row} is nested more than {_DEEPEST} levels deep", path)


def _inside(value: Any) -> Iterable[Any]:
    """The arrays and maps in an array or a map."""
    items = value.values() if isinstance(value, dict) else value
    return (item for item in items if isinstance(item, dict | list))


@contextmanager
def _uncollected() -> Iterator[None]:
    """A while without garbage collection: records have no cycles, and looking for some in all of
    them takes longer than reading them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Conversion:
    """Turns records of one file into batches."""

    def __init__(self, spec: ReadSpec, inventory: Inventory, file: InputFile) -> None:
        self._spec = spec
        self._schema = inventory.schema
        self._members = inventory.members
        self._file = file
        self._columns = [
            (column, Coercion(column.type, spec.date_formats)) for column in spec.converted_columns
        ]
        self._declared: frozenset[str] = frozenset(column.name for column in spec.columns)
        self._tree = _tree_of(self._declared)

    def batch(self, records: Records, first_row: int) -> pa.RecordBatch:
        raw = {
            column.name: records.values(column.name)
            for column, _ in self._columns
            if column.name not in self._members
        }
        coerced = [
            (
                column,
                Coerced(records.taken_apart(column.name, self._members[column.name]))
                if column.name in self._members
                else coercion.column_from_values(raw[column.name]),
            )
            for column, coercion in self._columns
        ]
        values = {column.name: result.values for column, result in coerced}
        if self._spec.undeclared == "reject":
            self._refuse_undeclared(records, first_row)
        elif self._spec.undeclared == "keep":
            rests = map(self._undeclared, _whole(records))
            values[WIDENED] = tagged_column([rest or None for rest in rests])
        return assemble(
            self._spec,
            self._schema,
            self._file.position(first_row),
            len(records),
            values,
            find_rejections(coerced, lambda column, rows: [raw[column.name][at] for at in rows]),
            lambda rejected: tagged_maps([records.whole(at) for at in rejected]),
        )

    def _undeclared(self, record: Record) -> Record | None:
        if record.keys() <= self._declared:
            return None
        return _without(record, self._tree)

    def _refuse_undeclared(self, records: Records, first_row: int) -> None:
        for row, record in enumerate(_whole(records), first_row):
            if rest := self._undeclared(record):
                raise FormatError(
                    f"record {row} has the field '{_first_path(rest)}', "
                    "which the schema does not declare",
                    self._file.path,
                    "declare it, or set 'on_unmapped: {mode: drop}' or 'auto_widen'",
                )


def _whole(records: Records) -> Iterator[Record]:
    return map(records.whole, range(len(records)))


_Tree: TypeAlias = dict[str, "_Tree"]


def _tree_of(names: Iterable[str]) -> _Tree:
    """Declared columns by their keys; a column whose name has dots is found under both forms."""
    tree: _Tree = {}
    for name in names:
        branch = tree
        for step in name.split("."):
            branch = branch.setdefault(step, {})
        tree.setdefault(name, {})
    return tree


def _without(record: Record, tree: _Tree) -> Record:
    """What remains of a record when the declared columns are taken away."""
    rest = {}
    for key, value in record.items():
        branch = tree.get(key)
        if branch is None:
            rest[key] = value
        elif branch and isinstance(value, dict):
            if inner := _without(value, branch):
                rest[key] = inner
        elif branch and value is not None:
            rest[key] = value
    return rest


def _first_path(record: Record) -> str:
    key, value = next(iter(record.items()))
    return f"{key}.{_first_path(value)}" if isinstance(value, dict) and value else key
