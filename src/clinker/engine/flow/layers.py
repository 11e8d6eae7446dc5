"""Layers: columns that SQL or the interpreter adds to a frame before they are used."""

from __future__ import annotations

from collections.abc import Sequence

from clinker.engine.expressions.foreign import foreign_batch_function
from clinker.engine.expressions.scope import Columns, ForeignColumns, Layer
from clinker.engine.flow.frame import Frame, unquoted

_LAYERS_AT_ONCE = 20
"""Columns may use those before them, so that several layers of SQL are one step for the engine.
It looks through all of a step once for every layer, and gives up after a hundred times."""


def with_layers(frame: Frame, layers: Sequence[Layer]) -> Frame:
    """The frame with the columns of all layers that it does not have yet."""
    waiting: list[Columns] = []
    for layer in layers:
        match layer:
            case Columns():
                if len(waiting) == _LAYERS_AT_ONCE:
                    frame, waiting = _with_columns(frame, waiting), []
                waiting.append(layer)
            case ForeignColumns():
                frame, waiting = _with_foreign(_with_columns(frame, waiting), layer), []
    return _with_columns(frame, waiting)


def _with_columns(frame: Frame, layers: Sequence[Columns]) -> Frame:
    items = [(unquoted(name), text) for layer in layers for name, text in layer.definitions.items()]
    return frame.extend(item for item in items if item[0] not in frame.names)


def _with_foreign(frame: Frame, layer: ForeignColumns) -> Frame:
    work = [each for each in layer.work if unquoted(each.value) not in frame.names]
    if not work:
        return frame
    added: dict[str, str] = {}
    for each in work:
        added |= {unquoted(each.value): each.ddl, unquoted(each.fails): "BOOLEAN"}
    return frame.run_in_arrow(
        foreign_batch_function(work), added, "; ".join(each.cxl for each in work)
    )
