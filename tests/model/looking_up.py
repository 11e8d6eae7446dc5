"""Windows over the records of another source: what a record finds of those with its values."""

from __future__ import annotations

from collections.abc import Sequence

from clinker.cxl.builtins.windows import Shape, View, WindowFunction
from clinker.cxl.check import typed
from clinker.cxl.failure import Failure
from clinker.cxl.run.evaluate import Frame, Results, Surroundings, compile_expression
from clinker.cxl.run.window_spec import SortKey
from clinker.cxl.values import Value, identity, sort_key
from clinker.plan.nodes.window import Window, window_calls

from .rows import Row, Values


class LookingUp:
    def __init__(self, window: Window, program: typed.Program, others: Sequence[Row]) -> None:
        self.window = window
        self.calls = list(window_calls(program))
        self.others = [row.values for row in others]
        for key in reversed(window.spec.sort_by):
            self._sort(key)

    def _sort(self, key: SortKey) -> None:
        def place(values: Values) -> tuple[object, ...]:
            value = values[key.field]
            return () if value is None else sort_key(value)

        self.others.sort(key=place, reverse=key.descending)
        self.others.sort(key=lambda v: (v[key.field] is None) != key.nulls_first)

    def results(self, row: Row) -> Results:
        """What the window functions of the program give for a record."""
        assert self.window.lookup is not None
        pairs = list(zip(self.window.lookup, self.window.spec.group_by, strict=True))
        found = [
            other
            for other in self.others
            if all(identity(row.values[own]) == identity(other[key]) for own, key in pairs)
        ]
        return {call: _apply(call, found) for call in self.calls}


def _apply(call: typed.Window, found: Sequence[Values]) -> Value | Failure:
    function = call.function
    assert isinstance(function, WindowFunction)
    view = View(0, 0, len(found), 1, 1)
    if call.argument is None:
        counted: Value = function.call(view)
        return counted
    evaluate = compile_expression(call.argument)
    try:
        values = [evaluate(Frame(values, Surroundings())) for values in found]
        more = (None,) if function.shape is Shape.POSITION else ()
        result: Value = function.call(view, values, *more)
    except Failure as failure:
        return failure
    return result
