"""How rejected records leave the engine: each as one text.

To Spark a struct in which all is null costs as much as several columns, and most records are not
rejected. What the text is made of is JSON or numbers, so a newline can stand between its parts.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from clinker.engine.flow import hidden as kinds
from clinker.engine.flow.flow import POSITION, REJECT, SOURCE, Flow
from clinker.formats.common.read_spec import REJECT_TYPE

MEMBERSHIP = kinds.MEMBERSHIP.name
REJECTS = pa.schema(
    [
        (SOURCE, pa.int32()),
        (POSITION, pa.int64()),
        *REJECT_TYPE,
        (MEMBERSHIP, pa.string()),
    ]
)
_BETWEEN = "\n"


def reject_text_sql(flow: Flow, membership: str | None) -> str:
    """What is told of a rejected record; of others, not even where they come from.

    `membership` is SQL for what it falls with; None if nothing falls with others.
    """
    mark = flow.value(REJECT)
    place = map(flow.value, (SOURCE, POSITION))
    parts = [*place, *(f"{mark}.{part.name}" for part in REJECT_TYPE)]
    parts += [membership] if membership else []
    texts = (f"ifnull(string({part}), '')" for part in parts)
    return f"if({mark} IS NULL, NULL, concat_ws('\\n', {', '.join(texts)}))"


def source_text(text: str) -> str:
    """The number of the source that such a text tells, as digits; empty for a group."""
    return text.partition(_BETWEEN)[0]


def rejects_of(texts: Sequence[str]) -> pa.Table:
    """What such texts tell."""
    if not texts:
        return REJECTS.empty_table()
    width = texts[0].count(_BETWEEN) + 1
    parts = _BETWEEN.join(texts).split(_BETWEEN)
    assert len(parts) == len(texts) * width, "a part of a reject holds a newline"
    columns = [
        pa.array([part or None for part in parts[at::width]], pa.string()).cast(field.type)
        for at, field in enumerate([*REJECTS][:width])
    ]
    if width < len(REJECTS):
        columns.append(pa.nulls(len(texts), pa.string()))
    return pa.table(columns, REJECTS)
