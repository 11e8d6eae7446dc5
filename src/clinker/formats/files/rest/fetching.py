"""All pages of an endpoint, fetched one after another."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from clinker.diagnostics.addresses import mask
from clinker.formats.files.rest.addresses import without_user
from clinker.formats.files.rest.answers import RequestError, Service
from clinker.formats.files.rest.paging import CountRecords, Page, PagingError, make_paging
from clinker.formats.files.rest.retrying import Patience, retry
from clinker.formats.files.spool import Spool

if TYPE_CHECKING:
    from clinker.config.transport import RestTransport

_LIBRARIES = ("httpx", "httpcore")


class FetchError(Exception):
    """A page that cannot be fetched; names it, and no secret."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.help = help


class Endpoint:
    """Where pages are fetched, while it is entered; one connection serves them all."""

    def __init__(
        self, transport: RestTransport, source: str, spool: Spool, patience: Patience | None = None
    ) -> None:
        url, user = without_user(transport.url)
        self._retries = transport.retries
        self._source = source
        self._spool = spool
        self._patience = patience or Patience()
        self._service = Service(transport, url, user)
        self._paging = make_paging(transport, url)
        self._following: str | None = self._paging.first
        self._fetched = 0
        self._entered = ExitStack()

    def __enter__(self) -> Endpoint:
        self._entered.callback(self._service.close)
        self._entered.enter_context(_quiet_libraries())
        return self

    def __exit__(self, *problem: object) -> None:
        self._entered.close()

    @property
    def has_more(self) -> bool:
        """Whether there is another page, as far as the last one told."""
        return self._following is not None

    def fetch(self) -> Page:
        """The next page; FetchError if it does not come."""
        assert self._following is not None
        url = self._following
        self._fetched += 1
        with _naming(self._fetched, url):
            return retry(lambda: self._attempt(url), self._retries, self._patience)

    def _attempt(self, url: str) -> Page:
        with self._spool.file(f"page {self._fetched} of <source:{self._source}>") as file:
            answer = self._service.get(url, file)
        return Page(self._fetched, url, answer.url, answer.links, file.path, file.size)

    def look_for_next(self, page: Page, count_records: CountRecords) -> None:
        """Find out what follows the last page; FetchError if that leads astray."""
        with _naming(page.number, page.asked):
            self._following = self._paging.next(page, count_records)
            if self._following is not None:
                self._service.check_host(self._following, "has a next page that leads")


@contextmanager
def _naming(number: int, url: str) -> Iterator[None]:
    """What goes wrong is told with the page it is about."""
    try:
        yield
    except (RequestError, PagingError) as problem:
        message = f"page {number} of {mask(url)} {problem}"
        raise FetchError(message, problem.help) from None


@contextmanager
def _quiet_libraries() -> Iterator[None]:
    """While requests are made, the libraries do not log them: addresses may have secrets."""
    loggers = [logging.getLogger(name) for name in _LIBRARIES]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
