"""Secrets among the settings of a session: tokens and passwords, kept out of what users see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from clinker.engine.session.settings import SessionSettings

HIDDEN = "***"

_SECRET = re.compile(r"secret|password|token|access[.]?key", re.IGNORECASE)
"""Names of settings whose values are secrets, as Spark itself tells them."""
_USER = re.compile(r"(?<=//)[^/]*(?=@)")
_PARAMETER = re.compile(r"[;?&]([^;?&=]*)=([^;?&]*)")
_PLAIN = ("", "true", "false")


def is_secret(name: str) -> bool:
    return _SECRET.search(name) is not None


def shown_address(url: str) -> str:
    """An address without the user and the parameters that may belong to it."""
    return re.split(r"[;?#]", _USER.sub("", url).replace("//@", "//"))[0].rstrip("/")


def hide_secrets(text: str, settings: SessionSettings) -> str:
    """A text for the user, in which secrets of the settings are unreadable."""
    for secret in sorted(set(_secrets(settings)), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


def _secrets(settings: SessionSettings) -> Iterator[str]:
    for url in filter(None, (settings.master, settings.remote)):
        given = [value for name, value in _PARAMETER.findall(url) if is_secret(name)]
        for value in (*_USER.findall(url), *given):
            yield from filter(None, (value, unquote(value)))
    for name, value in settings.spark_conf.items():
        if is_secret(name) and value.lower() not in _PLAIN:
            yield value
