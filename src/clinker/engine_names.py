"""The engines that pipelines run on, for all who let users choose one."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

EngineName: TypeAlias = Literal["spark", "sail"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
TITLES: dict[EngineName, str] = {"spark": "Spark", "sail": "Sail"}
"""What messages call them."""
