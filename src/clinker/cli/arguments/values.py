"""Texts of arguments as values."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

FOREVER = "forever"
"""How long `--wait` waits without a value."""


class Once(argparse.Action):
    """Stores the value of an option of which a second one must not go unnoticed."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        if getattr(namespace, self.dest) is not None:
            raise argparse.ArgumentError(self, "it can be given once; run the command for each")
        setattr(namespace, self.dest, values)


def at_least(low: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text) if text.isascii() and text.isdigit() else low - 1
        if value < low:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of {low} or more")
        return value

    return number


def utf_8(text: str) -> str:
    """What goes into records and reports, unlike the name of a file, cannot be just any bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError(f"'{text}' is not text in UTF-8") from None
    return text


def wait_seconds(text: str) -> float:
    from clinker.config.quantities import parse_duration

    if text == FOREVER:
        return math.inf
    try:
        return parse_duration(text).total_seconds()
    except ValueError:
        message = f"'{text}' is not a duration such as 30s, 10m or 2h"
        raise argparse.ArgumentTypeError(message) from None


def memory_size(text: str) -> int:
    from clinker.config.quantities import parse_memory_size

    try:
        return parse_memory_size(text)
    except ValueError:
        message = f"'{text}' is not a size such as 512M or 2G"
        raise argparse.ArgumentTypeError(message) from None
