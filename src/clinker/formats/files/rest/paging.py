"""Paging: which page is next, by what the last one was."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from clinker.cxl.values import WrittenFloat
from clinker.diagnostics.addresses import mask
from clinker.formats.common.json_numbers import MALFORMED, loads
from clinker.formats.files.rest.addresses import resolve, with_parameter
from clinker.formats.files.rest.links import find_next
from clinker.frozen import frozen

if TYPE_CHECKING:
    from clinker.config.transport import (
        CursorPagination,
        OffsetPagination,
        RestTransport,
    )

_LARGEST_WITH_TOKEN = 256 * 2**20
"""A page has to be parsed as a whole to find a token in it."""

_KINDS = {dict: "an object", list: "an array", bool: "true"}


class PagingError(Exception):
    """The next page cannot be told from the last one."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.help = help


@frozen
class Page:
    """A page that was fetched."""

    number: int
    """From 1."""
    asked: str
    """The address that was asked for."""
    found: str
    """Where it was, redirects followed."""
    links: list[str]
    """Its `Link` headers."""
    body: Path
    size: int


CountRecords: TypeAlias = Callable[[], int]
"""Tells how many records a page has, before arrays in them are unfolded."""


class Paging(Protocol):
    """Knows the address of the first page, and of the next one as long as there is one."""

    first: str

    def next(self, page: Page, count_records: CountRecords) -> str | None: ...


def make_paging(transport: RestTransport, url: str) -> Paging:
    """How the pages that begin at an address are found."""
    pagination = transport.pagination
    if pagination.strategy == "offset":
        return _Offsets(pagination, url)
    if pagination.strategy == "cursor_token":
        return _Tokens(pagination, url)
    return _Links(url) if pagination.strategy == "link_header" else _Single(url)


class _Single:
    def __init__(self, url: str) -> None:
        self.first = url

    def next(self, page: Page, count_records: CountRecords) -> str | None:
        return None


class _Offsets:
    """Pages of so many records; a shorter one is the last."""

    def __init__(self, pagination: OffsetPagination, url: str) -> None:
        self._pagination = pagination
        self._url = url
        self._offset = 0
        self.first = self._address()

    def next(self, page: Page, count_records: CountRecords) -> str | None:
        if count_records() < self._pagination.limit:
            return None
        self._offset += self._pagination.limit
        return self._address()

    def _address(self) -> str:
        at_offset = with_parameter(self._url, self._pagination.offset_param, str(self._offset))
        return with_parameter(at_offset, self._pagination.limit_param, str(self._pagination.limit))


class _Tokens:
    """Pages that hold the token of the next one, empty or null in the last."""

    def __init__(self, pagination: CursorPagination, url: str) -> None:
        self._pagination = pagination
        self._seen: set[str] = set()
        self.first = url

    def next(self, page: Page, count_records: CountRecords) -> str | None:
        pointer = self._pagination.next_token_pointer
        token = find_token(page.body, pointer)
        if token is None:
            return None
        if token in self._seen:
            raise PagingError(
                f"has the same token at '{pointer}' as a page before it",
                "the service repeats itself: check 'cursor_param', the parameter for the token",
            )
        self._seen.add(token)
        return with_parameter(self.first, self._pagination.cursor_param, token)


class _Links:
    """Pages that tell in a header where the next one is."""

    def __init__(self, url: str) -> None:
        self._seen = {url}
        self.first = url

    def next(self, page: Page, count_records: CountRecords) -> str | None:
        target = find_next(page.links)
        if target is None:
            return None
        url = resolve(target, page.found)
        if url is None:
            raise PagingError("has a link to the next page that is not a web address")
        if url in self._seen:
            message = f"has a link to a page that was fetched already: {mask(url)}"
            raise PagingError(message, "the service repeats itself")
        self._seen.add(url)
        return url


def find_token(body: Path, pointer: str) -> str | None:
    """The token that a JSON pointer leads to; None if there is none, or it is empty."""
    if body.stat().st_size > _LARGEST_WITH_TOKEN:
        raise PagingError(
            f"is larger than the {_LARGEST_WITH_TOKEN >> 20} MiB in which a token is looked for",
            "ask the service for smaller pages",
        )
    try:
        value = loads(body.read_bytes().removeprefix(codecs.BOM_UTF8))
    except MALFORMED:
        raise PagingError("is not a JSON document, so no token can be found in it") from None
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and key.isascii() and key.isdigit():
            value = value[int(key)] if int(key) < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    if value is None or value is False or value == "":
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PagingError(f"has no token at '{pointer}' but {_KINDS[type(value)]}")
    return value.text if isinstance(value, WrittenFloat) else str(value)
