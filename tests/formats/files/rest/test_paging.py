"""Tokens of next pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.formats.files.rest.paging import PagingError, find_token


@pytest.mark.parametrize(
    ("body", "token"),
    [
        ('{"next": "abc"}', "abc"),
        ('\ufeff{"next": "é"}', "é"),
        ('{"next": 12}', "12"),
        ('{"next": 1.5}', "1.5"),
        ('{"next": 123456789012345678901234567890}', "123456789012345678901234567890"),
        ('{"next": null}', None),
        ('{"next": ""}', None),
        ('{"next": false}', None),
        ("{}", None),
        ("[]", None),
        ("7", None),
    ],
)
def test_tokens(tmp_path: Path, body: str, token: str | None) -> None:
    assert _find(tmp_path, body, "/next") == token


def test_pointers(tmp_path: Path) -> None:
    body = '{"a/b": [{"~": "x"}, "y"], "": "z"}'
    assert _find(tmp_path, body, "/a~1b/0/~0") == "x"
    assert _find(tmp_path, body, "/a~1b/1") == "y"
    assert _find(tmp_path, body, "/a~1b/2") is None
    assert _find(tmp_path, body, "/a~1b/-1") is None
    assert _find(tmp_path, body, "/") == "z"


@pytest.mark.parametrize("body", ['{"next": {"a": 1}}', '{"next": true}', '{"next": [1]}'])
def test_something_else_than_a_token(tmp_path: Path, body: str) -> None:
    with pytest.raises(PagingError, match="has no token at '/next' but"):
        _find(tmp_path, body, "/next")


@pytest.mark.parametrize("body", ["", "<html>", '{"next": "a"', "[" * 5000])
def test_no_document(tmp_path: Path, body: str) -> None:
    with pytest.raises(PagingError, match="is not a JSON document"):
        _find(tmp_path, body, "/next")


def _find(tmp_path: Path, body: str, pointer: str) -> str | None:
    path = tmp_path / "page"
    path.write_text(body, encoding="utf-8")
    return find_token(path, pointer)
