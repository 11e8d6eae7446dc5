"""The URLs of objects: `s3://bucket/key`.

A key stands in its URL as it is: nothing is decoded, `%`, `#`, `?` and blanks are parts of names.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from clinker.frozen import frozen

SCHEMES = ("s3", "gs", "abfs", "abfss", "hdfs")
OTHER_SCHEMES = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "az": "abfs", "wasb": "abfs"}
"""What other programs call them."""
ASIDE = ".clinker"
"""The name of directories for what runs put aside."""
_URL = re.compile(rf"({'|'.join(SCHEMES)})://([^/]*)/?(.*)", re.I | re.S)
_OTHER = re.compile(rf"({'|'.join(OTHER_SCHEMES)})s?://", re.I)
_PARAMETERS = re.compile(r"\?[\w.-]+=[^/]*$")
_UNSAFE = re.compile(r"/\.{0,2}(?=/)|[\x00-\x1f\x7f]")
_HIDDEN = "***"


@frozen
class ObjectUrl:
    """An object of a store, or what stands for a directory there: the beginning of keys."""

    scheme: str
    authority: str
    """The bucket; for Azure `container@account…`, for HDFS the address of a service."""
    key: str

    def __str__(self) -> str:
        return f"{self.store}/{self.key}"

    @property
    def store(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.store, *self.key.split("/"))

    @property
    def name(self) -> str:
        return self.key.rpartition("/")[2]

    @property
    def stem(self) -> str:
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix

    @property
    def parent(self) -> ObjectUrl:
        return ObjectUrl(self.scheme, self.authority, self.key.rpartition("/")[0])

    @property
    def is_plain(self) -> bool:
        """Whether all stores, and their clients, take the key for what it is."""
        return not self.key or not _UNSAFE.search(f"/{self.key.removesuffix('/')}/")

    def with_name(self, name: str) -> ObjectUrl:
        return self.parent / name

    def __truediv__(self, name: str) -> ObjectUrl:
        key = f"{self.key}/{name}" if self.key else name
        return ObjectUrl(self.scheme, self.authority, key)

    def is_below(self, prefix: str) -> bool:
        """Whether a URL that is allowed is this one, or a directory that it is in."""
        allowed = prefix.rstrip("/")
        return str(self) == prefix or str(self).startswith(f"{allowed}/")


FilePath: TypeAlias = Path | ObjectUrl
"""A file of this machine, or an object."""


def file_path(text: str) -> FilePath:
    """What a whole path means: an object if it is a URL."""
    return parse_url(text) or Path(text)


def canonical(path: FilePath) -> str:
    """Equal for two paths that are the same file, whatever links lead there."""
    return str(path) if isinstance(path, ObjectUrl) else os.path.realpath(path)


def parse_url(text: str) -> ObjectUrl | None:
    """The object that a path means, or None if it means a file."""
    found = _URL.fullmatch(text)
    return ObjectUrl(found[1].lower(), found[2], found[3]) if found else None


def meant_url(text: str) -> ObjectUrl | None:
    """What to write instead of a URL of the kind that other programs use."""
    found = _OTHER.match(text)
    scheme = OTHER_SCHEMES[found[1].lower()] if found else ""
    return parse_url(f"{scheme}://{text.partition('://')[2]}")


def has_secret(url: ObjectUrl) -> bool:
    """Whether a URL carries a user, a password or parameters, which may be credentials."""
    user, at, _ = url.authority.rpartition("@")
    is_container = url.scheme in ("abfs", "abfss") and ":" not in user
    return (bool(at) and not is_container) or _PARAMETERS.search(url.key) is not None


def masked(url: ObjectUrl) -> str:
    """A URL without what may be credentials."""
    user, at, host = url.authority.rpartition("@")
    container = user.partition(":")[0] if url.scheme in ("abfs", "abfss") else ""
    shown = container if container and container == user else _HIDDEN
    authority = f"{shown}@{host}" if at else host
    return f"{url.scheme}://{authority}/{_PARAMETERS.sub(f'?{_HIDDEN}', url.key)}"
