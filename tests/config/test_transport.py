"""Where the content of a source comes from."""

from __future__ import annotations

import pytest

from clinker.config.nodes.source import SourceConfig
from clinker.config.transport import (
    CursorPagination,
    HeaderAuth,
    NoAuth,
    OffsetPagination,
    RestTransport,
)
from tests.config.loading import CSV, accepted_config, brief, load_config

REST = (
    "type: json\nschema: { id: int }\ntransport: { kind: rest, url: 'https://x.y', max_pages: 2 }\n"
)


def test_rest_source() -> None:
    source = accepted_config(
        "source",
        """\
        type: json
        schema: { id: int }
        transport:
          kind: rest
          url: https://api.example.com/v1/orders
          max_pages: 50
          pagination: { strategy: cursor_token, cursor_param: p, next_token_pointer: /meta/next }
          auth: { scheme: header, name: X-API-Key, value: secret }
        """,
    )
    assert isinstance(source, SourceConfig)
    assert source.type == "json"
    assert isinstance(source.transport, RestTransport)
    assert isinstance(source.transport.pagination, CursorPagination)
    assert isinstance(source.transport.auth, HeaderAuth)
    assert (source.transport.retries, source.transport.timeout_secs) == (3, 30)
    offset = accepted_config(
        "source",
        "type: xml\nschema: { a: int }\ntransport: { kind: rest, url: 'http://a', max_pages: 1, "
        "pagination: { strategy: offset, limit: 200 } }",
    )
    assert isinstance(offset.transport.pagination, OffsetPagination)
    assert offset.transport.pagination.limit_param == "limit"
    assert isinstance(offset.transport.auth, NoAuth)


@pytest.mark.parametrize("transport", ["file", "{ kind: file }"])
def test_file_transport(transport: str) -> None:
    assert accepted_config("source", CSV + f"transport: {transport}").transport.kind == "file"


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            REST + "path: x.json",
            ["E219 10:7 a REST source reads no files, so 'path' is not allowed"],
        ),
        (REST.replace("type: json", "type: csv"), ["E220 7:13 a REST source cannot read csv"]),
        (
            "type: json\nschema: { id: int }\ntransport: { kind: rest, url: api, max_pages: 0 }",
            ["E007 9:53 must be at least 1, found 0"],
        ),
        (
            "type: json\nschema: { id: int }\ntransport: { kind: rest, url: api, max_pages: 1,\n"
            "  pagination: { strategy: offset }, auth: { scheme: bearr } }",
            ["E006 10:23 missing key 'limit'", "E007 10:59 unknown scheme 'bearr'"],
        ),
    ],
)
def test_diagnostics(config: str, expected: list[str]) -> None:
    assert brief(load_config("source", config).diagnostics) == expected


def _with(**keys: str) -> str:
    others = ", ".join(f"{key}: {value}" for key, value in keys.items())
    return REST.replace("max_pages: 2", f"max_pages: 2, {others}")


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            _with(auth='{ scheme: bearer, token: "s3cr3t\\n" }'),
            ["this has a line break or another control character in it"],
        ),
        (
            _with(auth='{ scheme: header, name: "X Key", value: "s3cr3t\\r" }'),
            [
                "'X Key' is not the name of a header",
                "this has a line break or another control character in it",
            ],
        ),
        (
            _with(auth="{ scheme: basic, username: 'me:s3cr3t', password: x }"),
            ["a user name has no ':' in it"],
        ),
        (
            _with(headers='{ "a:": b, c: "s3cr3t\\0" }'),
            [
                "'a:' is not the name of a header",
                "this has a line break or another control character in it",
            ],
        ),
        (
            _with(allow_redirects_to="['https://a.b', a.b, 'a.b:80', 'a/b']"),
            ["'https://a.b' is not a host", "'a/b' is not a host"],
        ),
        (REST.replace("https://x.y", "htp://me:s3cr3t@x"), ["this is not a web address"]),
        (REST.replace("https://x.y", "https://me:s3cr3t@x:y"), ["this is not a web address"]),
        (
            REST.replace("json", "xml").replace(
                "max_pages: 2",
                "max_pages: 2, pagination: { strategy: cursor_token, cursor_param: p, "
                "next_token_pointer: /n }",
            ),
            ["a token cannot be found in xml pages"],
        ),
        (REST + "compression: gzip\n", ["'compression' has no effect on a REST source"]),
        (CSV + "compression: zip", ["unknown compression 'zip'"]),
    ],
)
def test_what_cannot_be_sent_is_not_repeated(config: str, expected: list[str]) -> None:
    diagnostics = load_config("source", config).diagnostics
    assert [diagnostic.message for diagnostic in diagnostics] == expected
