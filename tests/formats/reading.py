"""Reading bytes as a source would, in as many splits as one likes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from clinker.cxl.run.strftime import compile_pattern
from clinker.cxl.run.tagged import decode
from clinker.cxl.types import SCHEMA_TYPES, Type
from clinker.formats import FORMATS
from clinker.formats.csv.dialect import CsvDialect
from clinker.formats.fixed_width.dialect import FixedWidthDialect
from clinker.formats.interchange.dialect import InterchangeDialect
from clinker.formats.json.dialect import JsonDialect
from clinker.formats.parquet.dialect import ParquetDialect
from clinker.formats.reading import (
    ArrayPath,
    Column,
    Inventory,
    ReadSpec,
    Section,
    input_file,
    read_origins,
    read_split,
    take_inventory,
)
from clinker.formats.xml.dialect import XmlDialect

_FORMATS = {
    CsvDialect: FORMATS["csv"],
    FixedWidthDialect: FORMATS["fixed_width"],
    InterchangeDialect: FORMATS["x12"],
    JsonDialect: FORMATS["json"],
    ParquetDialect: FORMATS["parquet"],
    XmlDialect: FORMATS["xml"],
}
Record = dict[str, Any]
WHOLE = 1 << 30


def columns(declared: Mapping[str, str | Type], required: Sequence[str] = ()) -> tuple[Column, ...]:
    return tuple(
        Column(name, SCHEMA_TYPES[to] if isinstance(to, str) else to, name in required)
        for name, to in declared.items()
    )


def spec_of(
    dialect: CsvDialect
    | FixedWidthDialect
    | InterchangeDialect
    | JsonDialect
    | ParquetDialect
    | XmlDialect,
    declared: Mapping[str, str | Type],
    *,
    needed: Sequence[str] | None = None,
    required: Sequence[str] = (),
    undeclared: Literal["keep", "drop", "reject"] = "keep",
    date_formats: tuple[str, ...] = (),
    array_paths: tuple[ArrayPath, ...] = (),
    sections: tuple[Section, ...] = (),
) -> ReadSpec:
    return ReadSpec(
        source=7,
        source_name="orders",
        format=_FORMATS[type(dialect)],
        dialect=dialect,
        columns=columns(declared, required),
        needed=tuple(declared if needed is None else needed),
        undeclared=undeclared,
        date_formats=tuple(map(compile_pattern, date_formats)),
        array_paths=array_paths,
        sections=sections,
        document=tuple(f"{each.name}.{field.name}" for each in sections for field in each.fields),
    )


def inventory_of(
    directory: Path, spec: ReadSpec, *contents: bytes, split_bytes: int = WHOLE
) -> Inventory:
    files = []
    for index, content in enumerate(contents):
        path = directory / f"{index}.data"
        path.write_bytes(content)
        files.append(input_file(index, str(path)))
    return take_inventory(spec, files, split_bytes)


def records_of(spec: ReadSpec, inventory: Inventory) -> list[Record]:
    """All records; every split must hold what the inventory says."""
    records: list[Record] = []
    for split in inventory.splits:
        batches = list(read_split(spec, inventory, split))
        for batch in batches:
            batch.validate(full=True)
            assert batch.schema == inventory.delivered
            records += batch.to_pylist()
        assert split.records in (None, sum(batch.num_rows for batch in batches))
    return records


def read(
    directory: Path, spec: ReadSpec, *contents: bytes, split_bytes: int = WHOLE
) -> list[Record]:
    return records_of(spec, inventory_of(directory, spec, *contents, split_bytes=split_bytes))


def values(records: Sequence[Record]) -> list[Record]:
    """The records without what the engine adds."""
    hidden = ("$pos", "$reject")
    return [{name: r[name] for name in r if name not in hidden} for r in records]


def rejection(record: Record) -> Mapping[str, Any]:
    """Why a record was rejected."""
    assert record["$reject"]["site"] == 7
    facts = decode(record["$reject"]["inputs"])
    assert isinstance(facts, dict)
    return facts


def origin(record: Record) -> Any:
    """What the file holds for a rejected record."""
    return decode(record["$reject"]["origin"])


def origins_of(spec: ReadSpec, inventory: Inventory, every: int = 1) -> list[Any]:
    """What the first file holds for its records, or for one in `every` of them."""
    found: list[Any] = []
    for split in inventory.splits:
        assert split.records
        rows = range(split.first_row, split.first_row + split.records)
        chosen = [row for row in rows if row % every == 0]
        found += map(decode, read_origins(spec, inventory, split, chosen).to_pylist())
    return found
