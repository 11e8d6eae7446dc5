"""JSON files: one object per record, in an array, one per line, or somewhere inside a document."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from typing import Any, TypeAlias

import pyarrow as pa

from clinker.cxl.failure import Category
from clinker.formats.common.coercion import Coerced, Coercion
from clinker.formats.common.read_spec import (
    WIDENED,
    FormatError,
    InputFile,
    Inventory,
    ReadSpec,
    Split,
)
from clinker.formats.common.rejecting import (
    Rejection,
    assemble,
    find_rejections,
    mark_unlike,
    tag_maps,
)
from clinker.formats.common.tagging import Unfit, tag_column
from clinker.formats.common.unfolding import Record, find
from clinker.formats.files.local import open_file
from clinker.formats.json.dialect import JsonDialect, JsonForm
from clinker.formats.json.fields import LineFields
from clinker.formats.json.members import Unlike
from clinker.formats.json.records import (
    RecordBlock,
    Records,
    Unreadable,
    WholeRecords,
    document_records,
    element_records,
    line_records,
    make_unfolding,
    place_of,
)

_CACHED_RECORDS, _CACHED_BYTES = 1 << 10, 1 << 18
"""How many records are converted at a time: what they are made of should stay in the cache."""
_BATCH_PARTS, _BATCH_BYTES = 8, 1 << 21
"""How many of these make a batch, unless they are large."""
_DEEPEST = 250


def read_split(
    spec: ReadSpec, dialect: JsonDialect, inventory: Inventory, split: Split
) -> Iterator[pa.RecordBatch]:
    """The records of a split in their order, the rejected ones among them."""
    some: list[pa.RecordBatch] = []
    for part in _read_small_batches(spec, dialect, inventory, split):
        some.append(part)
        if len(some) == _BATCH_PARTS or sum(each.nbytes for each in some) >= _BATCH_BYTES:
            yield from _combine(some)
            some = []
    if some:
        yield from _combine(some)


def _combine(batches: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from pa.Table.from_batches(batches).combine_chunks().to_batches()


def _read_small_batches(
    spec: ReadSpec, dialect: JsonDialect, inventory: Inventory, split: Split
) -> Iterator[pa.RecordBatch]:
    parts = _read_parts(spec, dialect, inventory, split)
    conversion = Conversion(spec, inventory, split.file)
    are_lines = _form(inventory, split) == "ndjson"
    row = split.first_row
    while True:
        with _pause_collection():
            try:
                batch = _next_batch(parts, conversion, row, split.file.path, are_lines)
            except Unlike:
                yield mark_unlike(spec, inventory.schema, split.file.position(row))
                return
        if batch is None:
            return
        yield batch
        row += batch.num_rows


def _next_batch(
    parts: Iterator[Records], conversion: Conversion, row: int, path: str, are_lines: bool
) -> pa.RecordBatch | None:
    records = next(parts, None)
    if records is None:
        return None
    try:
        return conversion.batch(records, row)
    except (RecursionError, TypeError, Unfit):
        deep = [at for at in range(len(records)) if _is_too_deep(records.whole(at))]
        if not deep:
            raise
        if not are_lines:
            message = f"record {row + deep[0]} is nested more than {_DEEPEST} levels deep"
            raise FormatError(message, path) from None
        too_deep = Unreadable(f"is nested more than {_DEEPEST} levels deep")
        return conversion.batch(_mark_unreadable(records, deep, too_deep), row)


def _mark_unreadable(records: Records, places: Sequence[int], why: Unreadable) -> Records:
    """The same records, but for some that cannot be read."""
    unreadable = {**records.unreadable, **dict.fromkeys(places, why)}
    return WholeRecords([unreadable.get(at, records.whole(at)) for at in range(len(records))])


def _read_parts(
    spec: ReadSpec, dialect: JsonDialect, inventory: Inventory, split: Split
) -> Iterator[Records]:
    """The records of a split, not too many at a time."""
    columns = spec.converted_columns
    if (
        _form(inventory, split) == "ndjson"
        and spec.undeclared == "drop"
        and not (spec.array_paths or dialect.record_path)
        and not any("." in column.name for column in columns)
    ):
        yield from LineFields(columns, inventory.members).read(_read_bytes(split))
        return
    records: list[Record | Unreadable] = []
    size = 0
    for block in _read_blocks(spec, dialect, inventory, split):
        records += block.records
        size += block.size
        if len(records) >= _CACHED_RECORDS or size >= _CACHED_BYTES:
            yield from _cut_small(records)
            records, size = [], 0
    yield from _cut_small(records)


def _cut_small(records: Sequence[Record | Unreadable]) -> Iterator[Records]:
    for begin in range(0, len(records), _CACHED_RECORDS):
        yield WholeRecords(records[begin : begin + _CACHED_RECORDS])


def read_origins(
    spec: ReadSpec, dialect: JsonDialect, inventory: Inventory, split: Split, rows: Sequence[int]
) -> pa.StringArray:
    """The values of some records of a split, as tagged maps.

    `rows` are their numbers in the file, in order.
    """
    conversion = Conversion(spec, inventory, split.file)
    places = [row - split.first_row for row in rows]
    records = WholeRecords(list(_choose_records(spec, dialect, inventory, split, places)))
    return tag_maps([conversion.fields(record) for record in _take_whole(records)])


def _choose_records(
    spec: ReadSpec, dialect: JsonDialect, inventory: Inventory, split: Split, places: Sequence[int]
) -> Iterator[Record | Unreadable]:
    """The records at some places of a split; of lines that are one each, no others are parsed."""
    is_lines = _form(inventory, split) == "ndjson"
    if is_lines and not (spec.array_paths or dialect.record_path):
        lines = list(filter(bytes.strip, _read_bytes(split).split(b"\n")))
        chosen = b"\n".join(lines[at] for at in places if at < len(lines))
        return _each(line_records(chosen))
    wanted = set(places)
    every = enumerate(_each(_read_blocks(spec, dialect, inventory, split)))
    return (record for at, record in every if at in wanted)


def _each(blocks: Iterable[RecordBlock]) -> Iterator[Record | Unreadable]:
    return chain.from_iterable(block.records for block in blocks)


def count_records(spec: ReadSpec, dialect: JsonDialect, inventory: Inventory, split: Split) -> int:
    """How many records a split has."""
    return sum(len(block.records) for block in _read_blocks(spec, dialect, inventory, split))


def _read_blocks(
    spec: ReadSpec, dialect: JsonDialect, inventory: Inventory, split: Split
) -> Iterator[RecordBlock]:
    form = _form(inventory, split)
    path = split.file.path
    data = _read_bytes(split)
    if form == "ndjson":
        return line_records(data, make_unfolding(spec.array_paths, dialect.record_path, path))
    unfold = make_unfolding(spec.array_paths)
    if form == "array":
        return element_records(data, place_of(dialect), split, unfold)
    records = document_records(data, dialect.record_path, path, split.start)
    if unfold:
        records = chain.from_iterable(map(unfold, records))
    return (RecordBlock([record], len(data)) for record in records)


def _form(inventory: Inventory, split: Split) -> JsonForm:
    """How the records of a split are written."""
    form: JsonForm = inventory.layouts[split.file.index]
    return form


def _read_bytes(split: Split) -> bytes:
    with open_file(split.file.path) as stream:
        stream.seek(split.start)
        return stream.read(split.end - split.start)


def _is_too_deep(record: Record) -> bool:
    """Whether a record is nested so deeply that what writes it gives up."""
    level: list[Any] = [record]
    for _ in range(_DEEPEST):
        level = [inner for value in level for inner in _inside(value)]
    return bool(level)


def _inside(value: Any) -> Iterable[Any]:
    """The arrays and maps in an array or a map."""
    items = value.values() if isinstance(value, dict) else value
    return (item for item in items if isinstance(item, dict | list))


@contextmanager
def _pause_collection() -> Iterator[None]:
    """A while without garbage collection: records have no cycles, and looking for some in all of
    them takes longer than reading them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Conversion:
    """Turns records of one file into batches, whatever they are read from."""

    def __init__(self, spec: ReadSpec, inventory: Inventory, file: InputFile) -> None:
        self._spec = spec
        self._schema = inventory.schema
        self._members = inventory.members
        self._file = file
        self._columns = [
            (column, Coercion(column.type, spec.date_formats)) for column in spec.converted_columns
        ]
        self._declared: frozenset[str] = frozenset(column.name for column in spec.columns)
        self._paths = [column.name for column in spec.columns if "." in column.name]

    def batch(self, records: Records, first_row: int) -> pa.RecordBatch:
        coerced = [
            (
                column,
                Coerced(records.taken_apart(column.name, self._members[column.name]))
                if column.name in self._members
                else records.coerced(column.name, coercion),
            )
            for column, coercion in self._columns
        ]
        values = {column.name: result.values for column, result in coerced}
        if self._spec.undeclared == "reject":
            self._refuse_undeclared(records, first_row)
        elif self._spec.undeclared == "keep":
            rests = map(self._undeclared, _take_whole(records))
            values[WIDENED] = tag_column([rest or None for rest in rests])
        return assemble(
            self._spec,
            self._schema,
            self._file.position(first_row),
            len(records),
            values,
            {
                **find_rejections(
                    coerced, lambda column, rows: _choose(records.values(column.name), rows)
                ),
                **{at: _no_record(line, first_row + at) for at, line in records.unreadable.items()},
            },
            lambda rejected: tag_maps([self.fields(records.whole(at)) for at in rejected]),
        )

    def fields(self, record: Record) -> Record:
        """The values of a record by the names of their columns: of some that is a path."""
        if not self._paths:
            return record
        values = {name: find(record, name.split(".")) for name in self._paths}
        present = {name: value for name, value in values.items() if value is not None}
        tree = _grow_tree(frozenset(self._paths), self._dotted_keys(record))
        return _drop_declared(record, tree) | present

    def _undeclared(self, record: Record) -> Record | None:
        if record.keys() <= self._declared:
            return None
        # A key with dots is what such a column reads; what is at the path is not declared then.
        return _drop_declared(record, _grow_tree(self._declared, self._dotted_keys(record)))

    def _dotted_keys(self, record: Record) -> frozenset[str]:
        return frozenset(name for name in self._paths if name in record)

    def _refuse_undeclared(self, records: Records, first_row: int) -> None:
        for row, record in enumerate(_take_whole(records), first_row):
            if rest := self._undeclared(record):
                raise FormatError(
                    f"record {row} has the field '{_find_first_path(rest)}', "
                    "which the schema does not declare",
                    self._file.path,
                    "declare it, or set 'on_unmapped: {mode: drop}' or 'auto_widen'",
                )


def _choose(values: Sequence[Any], rows: Sequence[int]) -> list[Any]:
    return [values[at] for at in rows]


def _no_record(line: Unreadable, row: int) -> Rejection:
    return Rejection(Category.TYPE_COERCION, f"row {row} {line.problem}", value=line.line)


def _take_whole(records: Records) -> Iterator[Record]:
    return map(records.whole, range(len(records)))


_Tree: TypeAlias = dict[str, "_Tree"]


@lru_cache(16)
def _grow_tree(names: frozenset[str], keys: frozenset[str]) -> _Tree:
    """Declared columns by their keys, those with dots by the keys of their paths; but `keys`."""
    tree: _Tree = {}
    for name in names - keys:
        branch = tree
        for step in name.split("."):
            branch = branch.setdefault(step, {})
    for key in keys:
        tree[key] = {}
    return tree


def _drop_declared(record: Record, tree: _Tree) -> Record:
    """What remains of a record when the declared columns are taken away."""
    rest = {}
    for key, value in record.items():
        branch = tree.get(key)
        if branch is None:
            rest[key] = value
        elif branch and isinstance(value, dict):
            if inner := _drop_declared(value, branch):
                rest[key] = inner
        elif branch and value is not None:
            rest[key] = value
    return rest


def _find_first_path(record: Record) -> str:
    key, value = next(iter(record.items()))
    return f"{key}.{_find_first_path(value)}" if isinstance(value, dict) and value else key
