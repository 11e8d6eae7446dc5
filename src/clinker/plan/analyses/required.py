"""Required columns: what of each source anything downstream needs."""

from __future__ import annotations

from collections.abc import Mapping

from clinker.config.error_handling import ErrorHandling
from clinker.config.nodes.source import SourceConfig
from clinker.cxl.types import Kind
from clinker.frozen import frozen
from clinker.plan.analyses.correlation import Correlation
from clinker.plan.nodes import Planned, Shape
from clinker.plan.nodes.wanted import Wanted
from clinker.plan.nodes.window import Window


@frozen
class RequiredColumns:
    """What must be read of a source; columns are in the order of its schema."""

    for_results: tuple[str, ...]
    """Columns whose values reach an output or decide about one."""
    members: Mapping[str, tuple[str, ...]]
    """Those of them that are arrays of which only these members of elements are read."""
    to_reject: tuple[str, ...]
    """Other columns that must be looked at, since a bad value in them rejects the record."""
    undeclared: bool
    """Whether an output shows columns that the schema does not name, or records differ by them."""
    all_for_dead_letters: bool
    """Whether rejected records show every column."""


def plan_required(
    nodes: Mapping[str, Planned],
    windows: Mapping[str, Window],
    correlation: Correlation,
    handling: ErrorHandling,
) -> dict[str, RequiredColumns]:
    """The required columns of every source of a pipeline without errors."""
    wanted = {name: Wanted() for name in nodes}
    for planned in reversed([*nodes.values()]):
        window = windows.get(planned.name)
        if window and window.lookup is not None:
            wanted[window.root] = wanted[window.root].plus(Wanted(set(window.reads)))
        inputs = [nodes[edge.upstream] for edge in planned.unit.inputs]
        asked = planned.ask_inputs(wanted[planned.name], inputs, window)
        for upstream, of_it in zip(inputs, asked, strict=True):
            wanted[upstream.name] = wanted[upstream.name].plus(of_it)
    return {
        node.name: _require(node.name, node.node.config, wanted[node.name], correlation, handling)
        for node in nodes.values()
        if node.shape is Shape.READS
    }


def _require(
    name: str,
    config: SourceConfig,
    wanted: Wanted,
    correlation: Correlation,
    handling: ErrorHandling,
) -> RequiredColumns:
    whole = set(wanted.columns - wanted.members.keys())
    if name in correlation.sources:
        whole |= set(correlation.sources[name].fields)
    if config.watermark:
        whole.add(config.watermark.column)
    needed = wanted.columns | whole
    columns = config.schema_columns
    return RequiredColumns(
        for_results=tuple(c.name for c in columns if c.name in needed),
        members={
            c.name: wanted.members[c.name]
            for c in columns
            if c.name in wanted.members and c.name not in whole
        },
        to_reject=tuple(
            c.name
            for c in columns
            if c.name not in needed and (c.required or not _takes_any_text(c.type.kinds))
        ),
        undeclared=wanted.undeclared and config.on_unmapped.mode == "auto_widen",
        all_for_dead_letters=_shows_source_rows(name, handling),
    )


def _takes_any_text(kinds: Kind) -> bool:
    return bool(kinds & Kind.STRING)


def _shows_source_rows(source: str, handling: ErrorHandling) -> bool:
    own = handling.dlq.per_source.get(source)
    path = (own.path if own else None) or handling.dlq.path
    return handling.dlq.include_source_row and path is not None
