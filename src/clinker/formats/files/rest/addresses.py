"""Addresses of web services: their users, where they lead, their parameters."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import quote, unquote_plus, urljoin, urlsplit, urlunsplit

from clinker.diagnostics.addresses import name_host

_PORTS = {"http": 80, "https": 443}


def without_user(url: str) -> tuple[str, tuple[str, str] | None]:
    """An address without user and password, and these."""
    parts = urlsplit(url)
    plain = urlunsplit(parts._replace(netloc=name_host(parts.hostname or "", parts.port)))
    if parts.username is None:
        return plain, None
    return plain, (_decode(parts.username), _decode(parts.password or ""))


def _decode(text: str) -> str:
    return unquote_plus(text.replace("+", "%2B"))


def resolve(reference: str, url: str) -> str | None:
    """The address that a reference found at `url` means; None if it is none of the web."""
    try:
        found = urljoin(url, reference.strip())
        parts = urlsplit(found)
        if parts.scheme not in _PORTS or not parts.hostname or parts.port == 0:
            return None
    except ValueError:
        return None
    return urlunsplit(parts._replace(fragment=""))


def is_same_host(url: str, other: str) -> bool:
    """Whether an address leads to where another one does, or to the same host but encrypted."""
    scheme, host, port = _origin(url)
    other_scheme, other_host, other_port = _origin(other)
    if host != other_host:
        return False
    is_upgrade = (other_scheme, scheme) == ("http", "https") and port in (443, other_port)
    return is_upgrade or (scheme, port) == (other_scheme, other_port)


def is_allowed_host(url: str, hosts: Collection[str]) -> bool:
    """Whether an address leads to one of some hosts, each as `host` or `host:port`."""
    scheme, host, port = _origin(url)
    return any(_origin(f"{scheme}://{allowed}")[1:] == (host, port) for allowed in hosts)


def show_host(url: str) -> str:
    """The host of an address, and its port if that is not the usual one."""
    scheme, host, port = _origin(url)
    return name_host(host, None if port == _PORTS[scheme] else port)


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").rstrip("."), parts.port or _PORTS[parts.scheme]


def with_parameter(url: str, name: str, value: str) -> str:
    """An address with a parameter, which replaces those of its name; others stay as they are."""
    parts = urlsplit(url)
    others = [
        pair
        for pair in parts.query.split("&")
        if pair and unquote_plus(pair.partition("=")[0]) != name
    ]
    query = "&".join([*others, f"{quote(name, safe='')}={quote(value, safe='')}"])
    return urlunsplit(parts._replace(query=query))
