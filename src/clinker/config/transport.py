"""Where a source's bytes come from: files, or pages of a REST endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import Field

from clinker.config.model import Model
from clinker.config.names import Name, Natural, Positive
from clinker.diagnostics import Diagnostic


class FileTransport(Model):
    kind: Literal["file"] = "file"


class NoPagination(Model):
    strategy: Literal["none"] = "none"


class OffsetPagination(Model):
    strategy: Literal["offset"]
    limit: Positive = Field(description="records per page")
    offset_param: Name = "offset"
    limit_param: Name = "limit"


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


class HeaderAuth(Model):
    scheme: Literal["header"]
    name: Name = Field(description="the header's name")
    value: Name = Field(description='its value; take it from the environment: "${API_KEY}"')


Pagination: TypeAlias = Annotated[
    NoPagination | OffsetPagination | CursorPagination | LinkHeaderPagination,
    Field(discriminator="strategy"),
]
Auth: TypeAlias = Annotated[NoAuth | BearerAuth | HeaderAuth, Field(discriminator="scheme")]


class RestTransport(Model):
    kind: Literal["rest"]
    url: Name = Field(description="the endpoint's address")
    max_pages: Positive = Field(description="the most pages that are fetched")
    max_records: Positive | None = None
    pagination: Pagination = Field(default_factory=NoPagination.model_construct)
    auth: Auth = Field(default_factory=NoAuth.model_construct)
    retries: Natural = 3
    timeout_secs: Positive = 30

    def check(self) -> Iterator[Diagnostic]:
        if not _is_web_address(self.url):
            yield self.problem(
                "E007",
                f"'{self.url}' is not a web address",
                "url",
                help="write https://… or http://…",
            )


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


Transport: TypeAlias = Annotated[FileTransport | RestTransport, Field(discriminator="kind")]
