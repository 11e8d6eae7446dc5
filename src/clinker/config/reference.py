"""References from one node to another: `node` or `node.port`."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, WithJsonSchema

from clinker.config.errors import found, invalid
from clinker.frozen import frozen


@frozen
class Ref:
    """A node, or one of the ports through which its records leave."""

    node: str
    port: str | None = None

    def __str__(self) -> str:
        return f"{self.node}.{self.port}" if self.port else self.node


def parse_ref(value: object) -> Ref:
    if isinstance(value, Ref):
        return value
    if not isinstance(value, str):
        raise invalid("E007", f"expected the name of a node, found {found(value)}")
    parts = value.split(".")
    if len(parts) > 2 or not all(parts):
        raise invalid(
            "E016",
            f"'{value}' does not name a node",
            "write 'node', or 'node.port' for one branch of it",
        )
    return Ref(*parts)


NodeRef: TypeAlias = Annotated[
    Ref,
    BeforeValidator(parse_ref),
    WithJsonSchema({"type": "string", "description": "A node, or node.port for one branch of it."}),
]
