"""What may be shown of the address of a web service: it may hold secrets."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit


def mask(url: str) -> str:
    """An address for people: without a user, and of its parameters only the names."""
    try:
        parts = urlsplit(url)
        place = name_host(parts.hostname or "", parts.port)
    except ValueError:
        return "(an address that cannot be read)"
    names = [pair.partition("=")[0] for pair in parts.query.split("&") if pair]
    query = "&".join(f"{name}=…" for name in names)
    return urlunsplit((parts.scheme, place, parts.path, query, ""))


def name_host(host: str, port: int | None) -> str:
    """A host as addresses write it."""
    name = f"[{host}]" if ":" in host else host
    return name if port is None else f"{name}:{port}"
