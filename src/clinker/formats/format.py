"""What a format is to those who read and write files of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

import pyarrow as pa

from clinker.cxl.types import Type
from clinker.formats.common.read_spec import InputFile, Inventory, ReadSpec, Split
from clinker.formats.common.writing import Renderer, WriteSpec
from clinker.frozen import frozen

if TYPE_CHECKING:  # workers do without the models of what users write
    from clinker.config.layout import Layout
    from clinker.config.nodes.output import OutputConfig
    from clinker.config.nodes.source import SourceConfig

ReadDialect = TypeVar("ReadDialect")
WriteDialect = TypeVar("WriteDialect")


@frozen(eq=False, kw_only=True)
class Format(Generic[ReadDialect, WriteDialect]):
    """How files of a format are read and written, and what else there is to know of it.

    Dialects are frozen values of the format's own classes. They travel to workers in a `ReadSpec`
    or a `WriteSpec`, and come back as the second argument of the functions here.
    """

    read_dialect: Callable[[SourceConfig, Layout | None], ReadDialect]
    write_dialect: Callable[[OutputConfig, Layout | None], WriteDialect]
    """The layout is that of a schema file or its like, where the configuration refers to one."""

    take_inventory: Callable[[ReadSpec, ReadDialect, Sequence[InputFile], int], Inventory]
    """Opens the files and cuts those that have more bytes than the last argument says."""
    read_split: Callable[[ReadSpec, ReadDialect, Inventory, Split], Iterator[pa.RecordBatch]]
    """The records of a split in their order, the rejected ones among them."""
    read_origins: Callable[[ReadSpec, ReadDialect, Inventory, Split, Sequence[int]], pa.StringArray]
    """What the file holds for the records with some numbers, as tagged maps."""
    count_records: Callable[[ReadSpec, ReadDialect, Inventory, Split], int] | None = None
    """For formats whose splits do not all tell how many records they hold."""
    read_schema: Callable[[str], Mapping[str, Type]] | None = None
    """For formats whose files say which columns they have: those of one file, by their names."""
    make_renderer: Callable[[WriteSpec, WriteDialect], Renderer]

    has_texts: bool
    """Whether files hold texts only, which are converted to the types of their columns; other
    formats have numbers and more."""
    has_arrays: bool
    """Whether values may be arrays of maps, of which only some members can be read."""
    names_columns_first: bool
    """Whether the names of all columns must be known before the first record is written."""
