"""Names of formats, and settings that are validated by the format they name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union

from pydantic import (
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    create_model,
)
from pydantic_core import CoreSchema, PydanticCustomError, PydanticKnownError, core_schema

from clinker.config.errors import REPORTED
from clinker.config.formats import FORMATS, format_named
from clinker.config.formats.base import FormatOptions
from clinker.config.model import Model
from clinker.config.tree import Located

Settings = TypeVar("Settings", bound=Model)

_KEY = "type"


def _known(name: object) -> object:
    if not isinstance(name, str) or name not in FORMATS:
        raise PydanticKnownError("literal_error", {"expected": _quoted_names()})
    return name


def _quoted_names() -> str:
    return ", ".join(f"'{name}'" for name in FORMATS)


FormatName: TypeAlias = Annotated[
    str, BeforeValidator(_known), WithJsonSchema({"enum": list(FORMATS), "type": "string"})
]


def format_model(
    base: type[Settings],
    name: str,
    format: str,
    options: type[Model],
    *,
    required_for: str | None = None,
) -> type[Settings]:
    """The model of settings of a format; the options may be left out unless they are required."""
    if required_for:
        written: Any = Field(description=required_for)
    else:
        written = Field(
            default_factory=options.model_construct, description=f"options of {format} files"
        )
    fields: dict[str, Any] = {_KEY: (Literal[format], ...), "options": (options, written)}
    return create_model(name, __base__=base, __module__=base.__module__, **fields)


class ByFormat:
    """Chooses the model of some settings by the format that they name under `type`.

    The models are looked up for every node instead of being one union, so that only the formats in
    use are imported, and all that are registered count.
    """

    def __init__(self, model_for: Callable[[FormatOptions], type[Model]]) -> None:
        self._model_for = model_for

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(self._validate)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        models = tuple(self._model_for(format_named(name)) for name in FORMATS)
        union: Any = Annotated[Union[models], Field(discriminator=_KEY)]  # noqa: UP007
        return handler(TypeAdapter(union).core_schema)

    def _validate(self, data: Any, info: ValidationInfo) -> Model:
        model = self._model_for(format_named(_name_in(data)))
        try:
            return model.model_validate(data, context=info.context)
        except ValidationError:
            if not isinstance(data, Located):
                raise
            raise PydanticCustomError(REPORTED, "reported where it was found") from None


def _name_in(data: object) -> str:
    if not isinstance(data, Mapping):
        raise PydanticKnownError("model_attributes_type")
    if _KEY not in data:
        raise PydanticCustomError(
            "union_tag_not_found",
            "names no format",
            {"discriminator": _KEY, "choices": list(FORMATS)},
        )
    name = data[_KEY]
    if not isinstance(name, str) or name not in FORMATS:
        raise PydanticKnownError(
            "union_tag_invalid",
            {"discriminator": f"'{_KEY}'", "tag": str(name), "expected_tags": _quoted_names()},
        )
    return name
