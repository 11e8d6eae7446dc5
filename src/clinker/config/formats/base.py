"""What configuration knows of a format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Literal

from clinker.config.model import Model
from clinker.cxl.types import Type
from clinker.frozen import frozen


@frozen(eq=False, kw_only=True)
class FormatOptions:
    """What users may write for a format, and what follows from choosing it."""

    name: str
    reading: type[Model]
    """The options of a source."""
    writing: type[Model]
    """The options of an output."""
    required_to_write: str | None = None
    """What the options of an output are for, if an output cannot do without."""

    comes_over_rest: bool = False
    """Whether a web service may give documents of it."""
    unfolds_arrays: bool = False
    """Whether records may hold arrays that `array_paths` unfolds."""
    extract_rule: Literal["xml_path", "json_pointer", "segment"] | None = None
    """How a section of the envelope is found, if there is such a thing."""
    header_segment: str | None = None
    """The only segment that may be a section, where sections are segments."""
    own_sections: Mapping[str, Type] = field(default_factory=dict)
    """The fields of sections that every document has, each as `section.field`."""
    tells_schema: bool = False
    """Whether files say themselves which columns they have, and of which types."""
    compresses_itself: bool = False
    """Whether compression happens inside of files, so that they cannot be compressed as a whole."""
    is_text: bool = True
    """Whether people can read what is written."""
    needs_layout: bool = False
    """Whether only a layout tells where the fields of a record are."""
    code_of_split: str | None = None
    """What an output that is split is reported as, if a document must stay one file."""
    holds_maps: bool = False
    """Whether an output may have a column of maps."""
    holds_arrays: bool = True
    """Whether an output may have a column of arrays."""
    segment_columns: tuple[str, ...] = ()
    """Where records are segments, the only columns an output may have besides e01, e02 and so on;
    the first one must be there."""
    can_be_named: Callable[[str], bool] | None = None
    """Whether an output may have a column of a name, if not every name will do."""

    @property
    def title(self) -> str:
        """The name as the names of models begin with it."""
        return "".join(word.capitalize() for word in self.name.split("_"))
