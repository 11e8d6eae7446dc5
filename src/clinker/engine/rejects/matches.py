"""Which build records a record of a combine is joined with, and how dead letters name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from clinker.cxl.types import INT, Type
from clinker.cxl.values import Value
from clinker.engine.flow.flow import Flow
from clinker.engine.flow.frame import quoted
from clinker.engine.rejects.places import record_name
from clinker.engine.rejects.sites import Explain, Reason
from clinker.frozen import frozen


def place_columns(label: str) -> tuple[str, str]:
    """The columns that tell where the build record comes from."""
    return f"$source:{label}", f"$position:{label}"


@frozen(eq=False)
class Matches:
    """The build inputs that records have been joined with."""

    builds: Mapping[str, Flow]
    files: Mapping[str, Sequence[str]]
    """The names of the files of each source."""

    @property
    def sql(self) -> list[tuple[str, Type]]:
        """What rejected records carry so that their build records can be named."""
        return [(quoted(name), INT.nullable()) for b in self.builds for name in place_columns(b)]

    def explaining(self, explain: Explain) -> Explain:
        """An explanation that names them, from values at whose end stands what `sql` gives."""
        count = len(self.sql)

        def explain_match(values: list[Value]) -> Reason | None:
            own, places = values[: len(values) - count], values[len(values) - count :]
            reason = explain(own)
            named = self._named(places)
            return reason and replace(reason, detail=f"{reason.detail}{named}")

        return explain_match

    def _named(self, places: Sequence[Value]) -> str:
        found = [
            record_name(self.files, source, position, is_group=flow.has_groups)
            for flow, source, position in zip(
                self.builds.values(), places[::2], places[1::2], strict=True
            )
            if isinstance(source, int) and isinstance(position, int)
        ]
        return f" (with {', and '.join(found)})" if found else ""
