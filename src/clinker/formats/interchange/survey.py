"""Interchanges looked through before they are read."""

from __future__ import annotations

from collections.abc import Sequence

from clinker.formats.common.read_spec import InputFile, Inventory, ReadSpec
from clinker.formats.interchange.dialect import InterchangeDialect


def take_inventory(
    spec: ReadSpec, dialect: InterchangeDialect, files: Sequence[InputFile], split_bytes: int
) -> Inventory:
    raise NotImplementedError
