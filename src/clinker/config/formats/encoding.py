"""Encodings of text that users may name."""

from __future__ import annotations

import codecs
from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from clinker.config.errors import invalid


def _encoding(text: str) -> str:
    try:
        codec = codecs.lookup(text)
    except (LookupError, ValueError):
        raise invalid(
            "E007", f"unknown encoding '{text}'", "for example utf-8 or latin-1"
        ) from None
    # Python also registers codecs such as base64, which are no encodings of text.
    if not codec._is_text_encoding:
        raise invalid(
            "E007", f"'{text}' is not an encoding of text", "for example utf-8 or latin-1"
        )
    return codec.name


Encoding: TypeAlias = Annotated[str, AfterValidator(_encoding)]
