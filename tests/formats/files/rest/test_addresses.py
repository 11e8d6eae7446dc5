"""Addresses: what is shown of them, and where they lead."""

from __future__ import annotations

import pytest

from clinker.diagnostics.addresses import mask
from clinker.formats.files.rest.addresses import (
    is_allowed_host,
    is_same_host,
    resolve,
    with_parameter,
    without_user,
)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://api.example.com/v1/orders", "https://api.example.com/v1/orders"),
        ("https://me:secret@a.b:8443/x?key=secret&q=1#top", "https://a.b:8443/x?key=…&q=…"),
        ("http://[::1]:80/x?flag", "http://[::1]:80/x?flag=…"),
        ("http://a:b:c/x", "(an address that cannot be read)"),
    ],
)
def test_only_names_of_parameters_are_shown(url: str, shown: str) -> None:
    assert mask(url) == shown


def test_users_are_taken_out() -> None:
    assert without_user("https://m%40x:p+%3A@a.b/c?d=e") == ("https://a.b/c?d=e", ("m@x", "p+:"))
    assert without_user("https://a.b:1/c") == ("https://a.b:1/c", None)


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        ("?page=2", "https://a.b/c/d?page=2"),
        ("/x", "https://a.b/x"),
        ("x", "https://a.b/c/x"),
        ("//other.com/x", "https://other.com/x"),
        (" https://a.b/y#z ", "https://a.b/y"),
        ("ftp://a.b/x", None),
        ("file:///etc/passwd", None),
        ("http://", None),
        ("https://a.b:x/", None),
    ],
)
def test_references_are_resolved(reference: str, url: str | None) -> None:
    assert resolve(reference, "https://a.b/c/d?page=1") == url


@pytest.mark.parametrize(
    ("url", "other", "expected"),
    [
        ("https://a.b/x", "https://A.B:443/y", True),
        ("https://a.b/x", "http://a.b/y", True),
        ("https://a.b:8080/x", "http://a.b:8080/y", True),
        ("http://a.b/x", "https://a.b/y", False),
        ("https://a.b:444/x", "https://a.b/y", False),
        ("https://c.a.b/x", "https://a.b/y", False),
        ("https://a.b.evil.com/x", "https://a.b/y", False),
    ],
)
def test_hosts_are_the_same_or_better_protected(url: str, other: str, expected: bool) -> None:
    assert is_same_host(url, other) is expected


def test_other_hosts_are_named() -> None:
    assert is_allowed_host("https://cdn.x/a", ["cdn.x"])
    assert is_allowed_host("https://CDN.x:8443/a", ["cdn.x:8443"])
    assert not is_allowed_host("https://cdn.x:8443/a", ["cdn.x"])
    assert not is_allowed_host("https://a.cdn.x/a", ["cdn.x"])


def test_a_parameter_replaces_those_of_its_name_only() -> None:
    url = "https://a.b/c?flag&offset=0&x=a%2Cb+c"
    assert with_parameter(url, "offset", "a b&=é") == (
        "https://a.b/c?flag&x=a%2Cb+c&offset=a%20b%26%3D%C3%A9"
    )
    assert with_parameter("https://a.b", "p", "1") == "https://a.b?p=1"
