"""Keys: SQL for the group that a record falls with, and what it means to the driver."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import orjson

from clinker.cxl.types import Kind
from clinker.engine.expressions import representation
from clinker.engine.flow import hidden as kinds
from clinker.engine.flow.building import Building
from clinker.engine.flow.flow import POSITION, SOURCE, Flow
from clinker.engine.flow.hidden import LINEAGE_COLUMN, MEMBERSHIP_COLUMN
from clinker.engine.flow.identity import identity_sql
from clinker.engine.settling.fallen import Key, Record


def part_sql(flow: Flow, field: str) -> str:
    """The text of a key field, equal for values that count as one; null if there is none."""
    column = flow.hidden_of(kinds.CORRELATION_KEY)[field]
    form = representation(column.type)
    value = identity_sql(flow.scope, flow.value(column.name), column.type)
    if form.is_tagged:
        # A text among values of any type has a quotation mark before it.
        return f"nullif(nullif({value}, '\"'), 'NaN')"
    if form.kind is Kind.FLOAT:
        value = flow.scope.bind(value)
        return f"if(isnan({value}), NULL, CAST({value} + 0D AS STRING))"
    return f"nullif(CAST({value} AS STRING), '')"


def key_sql(parts: Sequence[str]) -> str:
    """A whole key as one text; null for a record that falls with nobody."""
    listed = ", ".join(parts)
    return f"if(coalesce({listed}) IS NULL, NULL, to_json(array({listed})))"


def read_key(text: str) -> Key:
    """The key that such a text tells."""
    return tuple(orjson.loads(text))


def own_key_sql(building: Building, flow: Flow) -> str:
    """The key of a record by the fields of its own source."""
    carried = flow.hidden_of(kinds.CORRELATION_KEY)
    cases = [
        f"WHEN {number} THEN {key_sql([part_sql(flow, field) for field in key.fields])}"
        for number, source in enumerate(building.system.files)
        if source in flow.sources
        and (key := building.plan.correlation.sources.get(source))
        and all(field in carried for field in key.fields)
    ]
    if not cases:
        return "CAST(NULL AS STRING)"
    return f"CASE {flow.value(SOURCE)} {' '.join(cases)} END"


def membership_sql(building: Building, flow: Flow) -> str | None:
    """What is told of a rejected record's group: its key; of a rejected group, its records.

    None if no records of the pipeline fall together.
    """
    if not building.plan.correlation.sources:
        return None
    own = own_key_sql(building, flow)
    if LINEAGE_COLUMN.name in flow.hidden:
        lineage = f"to_json({flow.value(LINEAGE_COLUMN.name)}, map('ignoreNullFields', 'false'))"
        own = f"if({flow.value(SOURCE)} IS NULL, {lineage}, {own})"
    if MEMBERSHIP_COLUMN.name in flow.hidden:
        return f"coalesce({flow.value(MEMBERSHIP_COLUMN.name)}, {own})"
    return own


def with_membership(building: Building, flow: Flow) -> Flow:
    """The flow whose rejected records know their group, whatever is left of them from here on."""
    membership = membership_sql(building, flow)
    if membership is None or not flow.has_rejects:
        return flow
    text = f"if({flow.is_kept}, NULL, {membership})"
    return flow.with_hidden([(MEMBERSHIP_COLUMN, text)])


def lineage_sql(building: Building, flow: Flow) -> str:
    """The source records that a record stands for: itself, or those of a group."""
    key = own_key_sql(building, flow)
    itself = (
        f"array(named_struct('source', {flow.value(SOURCE)}, "
        f"'position', {flow.value(POSITION)}, 'key', {key}))"
    )
    if LINEAGE_COLUMN.name not in flow.hidden:
        return itself
    return f"coalesce({flow.value(LINEAGE_COLUMN.name)}, {itself})"


def read_lineage(text: str) -> Iterable[tuple[Record, Key | None]]:
    """The records that such a text tells, and their keys."""
    for each in orjson.loads(text):
        key = each.get("key")
        yield (each["source"], each["position"]), None if key is None else read_key(key)
