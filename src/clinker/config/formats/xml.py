"""XML: an element per record."""

from __future__ import annotations

import re
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field

from clinker.config.errors import invalid
from clinker.config.formats.base import FormatOptions
from clinker.config.model import Model
from clinker.config.names import Name
from clinker.xml_names import is_column_name, is_xml_name

_PATH = re.compile(r"/{0,2}[^/]+(/[^/]+)*")


def _element_name(text: str) -> str:
    if not is_xml_name(text):
        raise invalid(
            "E079", f"'{text}' is no name that an element can have", "for example 'order_line'"
        )
    return text


def _element_path(text: str) -> str:
    names = (name for step in text.split("/") if step for name in step.split(":", 1))
    if not _PATH.fullmatch(text) or not all(name == "*" or is_xml_name(name) for name in names):
        raise invalid(
            "E007",
            f"'{text}' is no path of elements",
            "names of elements with '/' between them: //x, /a/b/x or a/b/x",
        )
    return text


ElementName: TypeAlias = Annotated[Name, AfterValidator(_element_name)]
ElementPath: TypeAlias = Annotated[Name, AfterValidator(_element_path)]


class XmlReading(Model):
    record_path: ElementPath | None = Field(
        default=None, description="the record elements: //x, /a/b/x or a/b/x"
    )
    attribute_prefix: str = Field(
        default="@", description="what the names of fields begin with that are attributes"
    )
    namespace_handling: Literal["strip", "qualify"] = Field(
        default="strip", description="whether names lose their prefixes or keep them"
    )


class XmlWriting(Model):
    root_element: ElementName = Field(default="Root", description="the element around all records")
    record_element: ElementName = Field(default="Record", description="the element of a record")


FORMAT = FormatOptions(
    name="xml",
    reading=XmlReading,
    writing=XmlWriting,
    comes_over_rest=True,
    unfolds_arrays=True,
    extract_rule="xml_path",
    can_be_named=is_column_name,
)
