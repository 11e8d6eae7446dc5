"""Files that tell their columns themselves: there is nothing to guess."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clinker.cxl.failure import printable
from clinker.cxl.types import SCHEMA_TYPES, Kind, Type
from clinker.formats.parquet.content import Content, opened
from clinker.formats.parquet.types import type_of
from clinker.frozen import frozen
from clinker.infer.evidence import Column

EXTENSIONS = (".parquet", ".pq")
MAGIC = b"PAR1"


@frozen(kw_only=True)
class Told:
    """What a Parquet file tells."""

    columns: Sequence[Column]
    unreadable: Sequence[str]
    """What is to be said of columns that no schema can declare."""
    facts: Sequence[str]


def read_columns(path: str) -> Told:
    """The columns of a file; FormatError if it cannot be read."""
    with opened(path) as content:
        records, groups = content.metadata.num_rows, content.metadata.num_row_groups
        counted = "1 record" if records == 1 else f"{records:,} records"
        in_groups = "1 group" if groups == 1 else f"{groups:,} groups"
        return Told(
            columns=tuple(_list_columns(content)),
            unreadable=tuple(_list_unreadable(content)),
            facts=(f"{counted} in {in_groups} of rows",),
        )


def _list_columns(content: Content) -> Iterator[Column]:
    for field in content.schema:
        type_ = type_of(field.type)
        if type_:
            yield Column(
                name=field.name,
                type=_word(type_),
                values=content.metadata.num_rows,
                empty=0,
                evidence=str(field.type),
            )


def _list_unreadable(content: Content) -> Iterator[str]:
    for field in content.schema:
        if type_of(field.type) is None:
            yield (
                f"column '{printable(field.name)}' is of the type {field.type}, which cannot be "
                "read: it is not declared, and what is not declared is dropped"
            )


def _word(type_: Type) -> str:
    """A type as a schema writes it."""
    kinds = type_.kinds & ~Kind.NULL
    return next(word for word, known in SCHEMA_TYPES.items() if known.kinds & ~Kind.NULL == kinds)
