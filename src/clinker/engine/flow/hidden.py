"""Hidden columns: what the engine carries with records besides the fields of users.

Each kind is declared once, below: the names of its columns, where their values come from, and what
becomes of them in nodes of every shape. Every record that is passed on keeps its hidden columns; in
a merge, an input that lacks one has null there; a join keeps those of its driver. What a group has
of the records in it is for each kind to say.

To carry something new, add a kind to `HIDDEN_KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from clinker.cxl.types import BOOL, INT, MAP, STRING, Kind, Type
from clinker.engine.expressions import representation
from clinker.engine.flow.frame import quoted
from clinker.formats.common.read_spec import DOCUMENT as DOCUMENT_NAME
from clinker.formats.common.read_spec import POSITION as POSITION_NAME
from clinker.formats.common.read_spec import REJECT as REJECT_NAME
from clinker.formats.common.read_spec import REJECT_TYPE, WIDENED
from clinker.frozen import frozen
from clinker.plan.nodes import PlannedSource

if TYPE_CHECKING:
    from clinker.engine.flow.building import Building
    from clinker.engine.flow.flow import Flow
    from clinker.engine.reading.inputs import SourceInput


class InGroups(Enum):
    """What a group has in a hidden column."""

    NULL = "null"
    """Nothing: it is known of records only."""
    FIRST = "first"
    """What its first record has."""
    NONE = "none"
    """Not even the column."""
    OWN = "own"
    """What the aggregate makes of the group itself."""


@frozen(eq=False)
class Reading:
    """A source whose records get their hidden columns."""

    building: Building
    planned: PlannedSource
    files: SourceInput
    flow: Flow
    """Its records with what they have so far."""


Values: TypeAlias = Mapping[str, tuple[str, Type]]
"""SQL and types, by what follows the beginning of a column's name."""


@frozen(eq=False, kw_only=True)
class HiddenKind:
    """A kind of hidden column."""

    name: str
    """The column; if there are several, what their names begin with."""
    ddl: str | None = None
    """The type in the engine, if it is not that of a CXL type."""
    in_groups: InGroups
    read: Callable[[Reading], Values] | None = None
    """What records have in it when they are read."""
    is_aligned: bool = True
    """Whether a merge hands it on; otherwise it makes its own."""

    def column(self, key: str = "") -> str:
        """The name of the column for a key."""
        return f"{self.name}{key}"


@frozen(eq=False)
class Hidden:
    """A hidden column of a flow."""

    kind: HiddenKind
    key: str
    type: Type

    @property
    def name(self) -> str:
        return self.kind.column(self.key)

    @property
    def ddl(self) -> str:
        return self.kind.ddl or representation(self.type).ddl

    @property
    def null(self) -> str:
        return f"CAST(NULL AS {self.ddl})"


def _event_times(reading: Reading) -> Values:
    watermark = reading.planned.node.config.watermark
    if not watermark:
        return {}
    return {watermark.column: (quoted(watermark.column), reading.flow.columns[watermark.column])}


_PROVENANCE = {"source_name": "name", "source_file": "file", "source_row": "row"}
"""Metadata, and the members of `$source` that it is."""


def _provenance(reading: Reading) -> Values:
    system, unit = reading.building.system, reading.planned.unit
    return {
        key: (system.sql(unit, reading.flow, ("source", (_PROVENANCE[key],)), type_), type_)
        for key, type_ in reading.planned.meta.items()
    }


def _undeclared(reading: Reading) -> Values:
    files = reading.files
    if files.spec.undeclared != "keep":
        return {}
    if files.has_undeclared_map:
        return {"": (quoted(WIDENED), MAP.nullable())}
    return {
        f".{name}": (quoted(f"{WIDENED}.{name}"), STRING.nullable())
        for name in files.inventory.undeclared
    }


def _document(reading: Reading) -> Values:
    types = reading.planned.sections
    return {
        key: (quoted(DOCUMENT_NAME + key), types.get(key, STRING.nullable()))
        for key in reading.files.spec.document
    }


def _reject(reading: Reading) -> Values:
    return {"": (quoted(REJECT_NAME), STRING)} if reading.files.has_rejects else {}


def _correlation_keys(reading: Reading) -> Values:
    key = reading.building.plan.correlation.sources.get(reading.planned.name)
    if key is None:
        return {}
    types = reading.flow.columns
    return {field: (quoted(field), types[field].nullable()) for field in key.fields}


SOURCE = HiddenKind(
    name="$source",
    ddl="INT",
    in_groups=InGroups.NULL,
    read=lambda reading: {"": (f"{reading.files.number:d}", INT.nullable())},
)
"""The number of the source a record was read by."""

POSITION = HiddenKind(
    name=POSITION_NAME,
    in_groups=InGroups.NULL,
    read=lambda reading: {"": (quoted(POSITION_NAME), INT.nullable())},
)
"""Where in its source a record stands: which file, and where in it."""

ORDER = HiddenKind(name="$order.", in_groups=InGroups.OWN, is_aligned=False)
"""What orders records that their positions alone do not order."""

META = HiddenKind(name="$meta.", in_groups=InGroups.NONE, read=_provenance)
"""The metadata that programs emit."""

VARIABLE = HiddenKind(name="$var.", in_groups=InGroups.NONE)
"""What state nodes have written: the values of variables as of the record, by scope and name."""

PASSED = HiddenKind(name="$passed.", in_groups=InGroups.NONE)
"""For each of them, whether the record has met a writer; null where it has not."""

DOCUMENT = HiddenKind(name=DOCUMENT_NAME, in_groups=InGroups.NULL, read=_document)
"""What the document around a record says, as far as anyone reads it."""

ORIGIN = HiddenKind(name="$origin.", in_groups=InGroups.OWN, read=_event_times)
"""Fields as they came into being: the event times of sources, and all that an entry of the
dead-letter file shows of a group, which nobody can look up in a file."""

FIRST = HiddenKind(name="$first.", in_groups=InGroups.OWN)
"""Where the first record of a group stands, and whether the group may be one of several sources."""

UNDECLARED = HiddenKind(name=WIDENED, in_groups=InGroups.NONE, read=_undeclared)
"""Fields that no schema declares: a map, or a column each."""

_PARTS = {pa.int32(): "INT", pa.string(): "STRING"}
REJECT = HiddenKind(
    name=REJECT_NAME,
    ddl=f"STRUCT<{', '.join(f'{part.name}: {_PARTS[part.type]}' for part in REJECT_TYPE)}>",
    in_groups=InGroups.OWN,
    read=_reject,
)
"""Why a record is rejected; null while it is not."""

CORRELATION_KEY = HiddenKind(name="$ck.", in_groups=InGroups.OWN, read=_correlation_keys)
"""The fields by which records fall together, as they were read; of groups that failing records are
taken back from, their numbers."""

MEMBERSHIP = HiddenKind(name="$membership", in_groups=InGroups.NULL)
"""Of a rejected record that leaves its own way, the group it falls with; of a rejected group, the
records in it."""

LINEAGE = HiddenKind(
    name="$lineage",
    ddl="ARRAY<STRUCT<source: INT, position: BIGINT, key: STRING>>",
    in_groups=InGroups.OWN,
)
"""The source records that a group was made of, where that is asked for."""

BRANCH = HiddenKind(name="$branch:", in_groups=InGroups.NONE)
"""Whether a record goes to a branch of the route that it has just passed."""

HIDDEN_KINDS = [
    SOURCE,
    POSITION,
    ORDER,
    UNDECLARED,
    META,
    VARIABLE,
    PASSED,
    DOCUMENT,
    ORIGIN,
    FIRST,
    CORRELATION_KEY,
    MEMBERSHIP,
    LINEAGE,
    BRANCH,
    REJECT,
]

MARK = Hidden(REJECT, "", Type(Kind.NULL))
"""The column that tells rejected records from others."""
NO_REJECT = MARK.null

MEMBERSHIP_COLUMN = Hidden(MEMBERSHIP, "", STRING.nullable())
LINEAGE_COLUMN = Hidden(LINEAGE, "", Type(Kind.NULL))

FIRST_SOURCE = Hidden(FIRST, "source", INT)
FIRST_POSITION = Hidden(FIRST, "position", INT.nullable())
IS_MERGED = Hidden(FIRST, "is_merged", BOOL)
