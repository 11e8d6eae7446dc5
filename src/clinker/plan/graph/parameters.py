"""Where the value of a composition's parameter comes from."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field

from clinker.diagnostics import Location
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen


class Origin(enum.IntEnum):
    """Who may give a parameter its value; a later one wins."""

    COMPOSITION_DEFAULT = enum.auto()
    CALL_SITE = enum.auto()
    CHANNEL_DEFAULT = enum.auto()
    CHANNEL_FIXED = enum.auto()

    @property
    def title(self) -> str:
        return "".join(word.capitalize() for word in self.name.split("_"))


@frozen
class Layer:
    """A value that was given, and where."""

    origin: Origin
    value: object
    location: Location = field(repr=False, compare=False)


@frozen
class Provenance:
    """Every value that a parameter was given, the one that holds first."""

    layers: tuple[Layer, ...]

    @property
    def winner(self) -> Layer | None:
        return self.layers[0] if self.layers else None

    @property
    def value(self) -> object:
        """The value that holds; None when none was given."""
        return self.winner.value if self.winner else None


def put_in_order(layers: list[Layer]) -> Provenance:
    return Provenance(tuple(sorted(layers, key=lambda layer: -layer.origin)))


Parameters = Mapping[str, Mapping[str, Provenance]]
"""The parameters of every composition call."""


class UnknownField(Exception):
    """No parameter has this name."""


def explain_field(parameters: Parameters, field: str) -> str:
    """What there is to say about `node.param`; raises UnknownField when there is no such one."""
    call, _, name = field.rpartition(".")
    provenance = parameters.get(call, {}).get(name)
    if provenance is None:
        raise UnknownField(_why_unknown(parameters, field))
    lines = [
        f"Field: {field}",
        "",
        f"  Resolved value: {_shown(provenance.value)}",
        "",
        "  Provenance chain (outermost to innermost):",
        *(_line(layer, layer is provenance.winner) for layer in provenance.layers),
    ]
    return "\n".join(lines) + "\n"


def _line(layer: Layer, won: bool) -> str:
    mark, note = ("[WON]", "") if won else ("     ", "  (shadowed)")
    place = f"{layer.location.source.name}:{layer.location.start.line}"
    return f"  {mark} {layer.origin.title:<22} →  {_shown(layer.value)}  ({place}){note}"


def _shown(value: object) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _why_unknown(parameters: Parameters, field: str) -> str:
    known = [f"{call}.{name}" for call, names in parameters.items() for name in names]
    if not known:
        return f"'{field}' is no parameter: the pipeline calls no composition that has any"
    hint = did_you_mean(field, known) or f"known: {', '.join(known)}"
    return f"'{field}' is no parameter of a composition call; {hint}"
