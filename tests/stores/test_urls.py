"""What the URLs of objects say."""

from __future__ import annotations

import pytest

from clinker.stores.urls import has_secret, masked, meant_url, parse_url


@pytest.mark.parametrize(
    ("text", "scheme", "authority", "key"),
    [
        ("s3://bucket/a/b.csv", "s3", "bucket", "a/b.csv"),
        ("S3://bucket", "s3", "bucket", ""),
        ("gs://bucket/a b#?%20.csv", "gs", "bucket", "a b#?%20.csv"),
        (
            "abfss://c@account.dfs.core.windows.net/x",
            "abfss",
            "c@account.dfs.core.windows.net",
            "x",
        ),
        ("hdfs:///x/y", "hdfs", "", "x/y"),
        ("hdfs://node:8020/x", "hdfs", "node:8020", "x"),
        ("s3://b/line\nend", "s3", "b", "line\nend"),
    ],
)
def test_parts(text: str, scheme: str, authority: str, key: str) -> None:
    url = parse_url(text)
    assert url
    assert (url.scheme, url.authority, url.key) == (scheme, authority, key)
    assert parse_url(str(url)) == url


@pytest.mark.parametrize(
    "text", ["a.csv", "/s3://b/x", "s3:/b/x", "./s3://b", "http://b/x", "", "s3"]
)
def test_files(text: str) -> None:
    assert parse_url(text) is None


def test_names_and_directories() -> None:
    url = parse_url("s3://b/in/2024/a.tar.gz")
    assert url
    assert (url.name, url.stem, url.suffix) == ("a.tar.gz", "a.tar", ".gz")
    assert str(url.parent) == "s3://b/in/2024"
    assert str(url.parent.parent.parent) == "s3://b/"
    assert str(url.parent.parent.parent / "x") == "s3://b/x"
    assert str(url.with_name("b")) == "s3://b/in/2024/b"
    assert url.parts == ("s3://b", "in", "2024", "a.tar.gz")


@pytest.mark.parametrize(
    ("prefix", "is_below"),
    [
        ("s3://b", True),
        ("s3://b/", True),
        ("s3://b/in", True),
        ("s3://b/in/", True),
        ("s3://b/in/a.csv", True),
        ("s3://b/i", False),
        ("s3://b/in/a", False),
        ("s3://bb/", False),
        ("gs://b/", False),
    ],
)
def test_what_is_allowed_ends_where_a_name_ends(prefix: str, is_below: bool) -> None:
    url = parse_url("s3://b/in/a.csv")
    assert url
    assert url.is_below(prefix) == is_below


@pytest.mark.parametrize(
    "key", ["a//b", "/a", "../a", "a/../b", "a/..", ".", "a/./b", "a\nb", "a\x00", "a\x7f"]
)
def test_keys_that_are_not_plain(key: str) -> None:
    url = parse_url(f"s3://b/{key}")
    assert url
    assert not url.is_plain


@pytest.mark.parametrize("key", ["", "a", "a/", "..a/b..", "a b/ä#?%2e%2e", ".hidden", "..."])
def test_keys_that_are_plain(key: str) -> None:
    url = parse_url(f"s3://b/{key}")
    assert url
    assert url.is_plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("s3://KEY:SECRET@b/a.csv", "s3://***@b/a.csv"),
        ("s3://KEY@b/a.csv", "s3://***@b/a.csv"),
        ("s3://b/a.csv?access_key=SECRET&x=y", "s3://b/a.csv?***"),
        (
            "abfs://c:SECRET@account.dfs.core.windows.net/a",
            "abfs://***@account.dfs.core.windows.net/a",
        ),
        ("gs://SECRET@b/a", "gs://***@b/a"),
    ],
)
def test_secrets_are_masked(text: str, shown: str) -> None:
    url = parse_url(text)
    assert url
    assert has_secret(url)
    assert masked(url) == shown


@pytest.mark.parametrize("text", ["abfs://c@account.dfs.core.windows.net/a", "s3://b/what?.csv"])
def test_what_is_no_secret_is_shown(text: str) -> None:
    url = parse_url(text)
    assert url
    assert not has_secret(url)
    assert masked(url) == text


def test_schemes_of_other_programs() -> None:
    assert str(meant_url("s3a://b/x")) == "s3://b/x"
    assert str(meant_url("wasbs://c@a/x")) == "abfs://c@a/x"
    assert meant_url("s3://b/x") is None
    assert meant_url("ftp://b/x") is None
