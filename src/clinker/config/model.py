"""The base of all configuration models: frozen, strict, and aware of where they were written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from clinker.config.errors import REPORTED, explain, known_keys
from clinker.config.tree import Located, MappingNode, Node, ScalarNode, find
from clinker.diagnostics import Diagnostic, EmbeddedSource, Label, Location, Severity

Path = str | int


class Model(BaseModel):
    """A mapping of a configuration file.

    Validation reports into the list given as context, so that one bad mapping never hides what is
    wrong with another.
    """

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        arbitrary_types_allowed=True,
        allow_inf_nan=False,
        defer_build=True,
    )

    _node: MappingNode | None = PrivateAttr(default=None)

    @model_validator(mode="wrap")
    @classmethod
    def _validate(
        cls, data: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Self:
        if not isinstance(data, Located):
            return handler(data)
        problems: list[Diagnostic] = info.context if info.context is not None else []
        try:
            model = handler(cls._written(data))
        except ValidationError as error:
            problems += explain(error, cls, data.node)
            raise PydanticCustomError(REPORTED, "reported where it was found") from None
        model._stand_at(data.node)
        problems += model.check()
        return model

    @classmethod
    def _written(cls, data: Located) -> Located:
        """The data without the keys that may be left out and have nothing under them."""
        empty = {key for key, value in data.items() if value is None}
        if not empty:
            return data
        for name, info in cls.model_fields.items():
            if info.is_required():
                empty.discard(info.alias or name)
        empty &= set(known_keys(cls))
        kept = Located((key, value) for key, value in data.items() if key not in empty)
        kept.node = data.node
        return kept

    def _stand_at(self, node: MappingNode) -> None:
        self._node = node
        for name in type(self).model_fields.keys() - self.model_fields_set:
            default = getattr(self, name)
            if isinstance(default, Model) and default._node is None:
                default._stand_at(node)

    def check(self) -> Iterator[Diagnostic]:
        """What is wrong although every key has a value of the right type."""
        yield from ()

    @property
    def node(self) -> MappingNode:
        """The mapping this was read from; for one that was left out, the mapping around it."""
        if self._node is None:
            raise LookupError(f"this {type(self).__name__} was not read from a file")
        return self._node

    @property
    def location(self) -> Location:
        return self.node.location

    @property
    def head(self) -> Location:
        """The first key, to point at the whole."""
        return self.node.head

    def at(self, field: str, *path: Path) -> Location:
        """Where the value of `field`, or something inside it, is written."""
        found = self._find(field, *path)
        return found.location if found else self.head

    def key_at(self, field: str, *path: Path) -> Location:
        """Where the key of `field`, or a key inside its value, is written."""
        keys = (self._key(field), *path)
        parent = find(self.node, *keys[:-1])
        last = keys[-1]
        if isinstance(parent, MappingNode) and isinstance(last, str) and last in parent.entries:
            return parent.entries[last].key.location
        return self.at(field, *path)

    def text(self, field: str, *path: Path) -> EmbeddedSource:
        """The text in `field` as a source of its own that points into the file."""
        found = self._find(field, *path)
        if not isinstance(found, ScalarNode):
            raise LookupError(f"{type(self).__name__} has no text at {(field, *path)}")
        return found.embedded()

    def has(self, field: str) -> bool:
        """Whether `field` was written."""
        return field in self.model_fields_set

    def problem(
        self,
        code: str,
        message: str,
        *path: Path,
        help: str | None = None,
        key: bool = False,
        also: tuple[Label, ...] = (),
        warning: bool = False,
    ) -> Diagnostic:
        """A finding about the value (or the key) at `path`; without one about the whole."""
        if not path:
            where = self.head
        elif key:
            where = self.key_at(str(path[0]), *path[1:])
        else:
            where = self.at(str(path[0]), *path[1:])
        severity = Severity.WARNING if warning else Severity.ERROR
        return Diagnostic(code, message, Label(where), also, help, severity)

    def _find(self, field: str, *path: Path) -> Node | None:
        return find(self.node, self._key(field), *path)

    def _key(self, field: str) -> str:
        info = type(self).model_fields.get(field)
        return info.alias if info and info.alias else field
