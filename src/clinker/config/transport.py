"""Where a source's bytes come from: files, or pages of a REST endpoint."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import Field

from clinker.config.model import Model
from clinker.config.names import Name, Natural, Positive
from clinker.diagnostics import Diagnostic

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_UNSENDABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class FileTransport(Model):
    kind: Literal["file"] = "file"


class NoPagination(Model):
    strategy: Literal["none"] = "none"


class OffsetPagination(Model):
    strategy: Literal["offset"]
    limit: Positive = Field(description="records per page")
    offset_param: Name = Field(default="offset", description="the parameter for the offset")
    limit_param: Name = Field(default="limit", description="the parameter for the limit")


class CursorPagination(Model):
    strategy: Literal["cursor_token"]
    cursor_param: Name = Field(description="the parameter that carries the token")
    next_token_pointer: Name = Field(description="JSON pointer to the next token in a response")

    def check(self) -> Iterator[Diagnostic]:
        if not self.next_token_pointer.startswith("/"):
            yield self.problem(
                "E007",
                f"'{self.next_token_pointer}' is not a JSON pointer",
                "next_token_pointer",
                help="start it with '/', such as /meta/next_page",
            )


class LinkHeaderPagination(Model):
    strategy: Literal["link_header"]


class NoAuth(Model):
    scheme: Literal["none"] = "none"


class BearerAuth(Model):
    scheme: Literal["bearer"]
    token: Name = Field(description='the token; take it from the environment: "${TOKEN}"')

    def check(self) -> Iterator[Diagnostic]:
        if _UNSENDABLE.search(self.token):
            yield _unsendable(self, "token")


class BasicAuth(Model):
    scheme: Literal["basic"]
    username: Name = Field(description="the user; it has no ':' in it")
    password: str = Field(description='the password; from the environment: "${PASSWORD}"')

    def check(self) -> Iterator[Diagnostic]:
        if ":" in self.username:
            help = "write what stands behind the ':' as 'password'"
            yield self.problem("E007", "a user name has no ':' in it", "username", help=help)


class HeaderAuth(Model):
    scheme: Literal["header"]
    name: Name = Field(description="the header's name")
    value: Name = Field(description='its value; take it from the environment: "${API_KEY}"')

    def check(self) -> Iterator[Diagnostic]:
        if not _HEADER_NAME.fullmatch(self.name):
            yield _no_header_name(self, self.name, "name")
        if _UNSENDABLE.search(self.value):
            yield _unsendable(self, "value")


Pagination: TypeAlias = Annotated[
    NoPagination | OffsetPagination | CursorPagination | LinkHeaderPagination,
    Field(discriminator="strategy"),
]
Auth: TypeAlias = Annotated[
    NoAuth | BearerAuth | BasicAuth | HeaderAuth, Field(discriminator="scheme")
]


class RestTransport(Model):
    kind: Literal["rest"]
    url: Name = Field(description="the endpoint's address")
    max_pages: Positive = Field(description="the most pages that are fetched")
    max_records: Positive | None = Field(
        default=None, description="the most records that are read, over all pages"
    )
    pagination: Pagination = Field(
        default_factory=NoPagination.model_construct, description="how the next page is found"
    )
    auth: Auth = Field(default_factory=NoAuth.model_construct, description="what is sent to log in")
    headers: dict[Name, str] = Field(
        default_factory=dict, description="other headers that are sent with every request"
    )
    allow_redirects_to: tuple[Name, ...] = Field(
        default=(),
        description="other hosts that redirects and links may lead to, as host or host:port; "
        "what logs in and other headers are not sent there",
    )
    retries: Natural = Field(
        default=3, description="how often a request is tried again that may succeed later"
    )
    timeout_secs: Positive = Field(
        default=30, description="how many seconds a request may take, with all of its answer"
    )

    def check(self) -> Iterator[Diagnostic]:
        if not _is_web_address(self.url):
            # It may have a password in it, so it is not repeated.
            yield self.problem(
                "E007",
                "this is not a web address",
                "url",
                help="write https://… or http://…",
            )
        for position, host in enumerate(self.allow_redirects_to):
            if not _is_host(host):
                yield self.problem(
                    "E007",
                    f"'{host}' is not a host",
                    "allow_redirects_to",
                    position,
                    help="write only its name, such as files.example.com, or host:port",
                )
        for name, value in self.headers.items():
            if not _HEADER_NAME.fullmatch(name):
                yield _no_header_name(self, name, "headers", name)
            if _UNSENDABLE.search(value):
                yield _unsendable(self, "headers", name)


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.port != 0
            and not re.search(r"[\x00-\x20\x7f]", text)
        )
    except ValueError:
        return False


def _is_host(text: str) -> bool:
    return _is_web_address(f"http://{text}") and not re.search(r"[/?#@]", text)


def _no_header_name(model: Model, name: str, *path: str) -> Diagnostic:
    help = "letters, digits and '-' make the name of a header, such as X-API-Key"
    return model.problem("E007", f"'{name}' is not the name of a header", *path, help=help)


def _unsendable(model: Model, *path: str) -> Diagnostic:
    """The value itself is a secret and is not repeated."""
    help = "a block of text (|) and some files end with a line break: leave it out"
    return model.problem(
        "E007", "this has a line break or another control character in it", *path, help=help
    )


Transport: TypeAlias = Annotated[FileTransport | RestTransport, Field(discriminator="kind")]
