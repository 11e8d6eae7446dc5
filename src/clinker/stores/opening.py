"""The clients of stores, made of what the environment says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from clinker.stores.urls import ObjectUrl

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_CONNECT_SECONDS = 5
_ANSWER_SECONDS = 120
"""A store copies gigabytes before it answers."""
_RETRY = timedelta(seconds=30)
_BLOB_HOSTS = (".dfs.core.windows.net", ".blob.core.windows.net")


def opened(url: ObjectUrl) -> tuple[FileSystem, str]:
    """The client of the store of an object, and the path by which it knows the object."""
    match url.scheme:
        case "s3":
            settings = s3_settings(os.environ) or {"region": _region_of(url.authority)}
            return _s3(**settings), f"{url.authority}/{url.key}"
        case "gs":
            return _gs(), f"{url.authority}/{url.key}"
        case "hdfs":
            return _hdfs(url.authority), f"/{url.key}"
        case _:
            container, _, host = url.authority.rpartition("@")
            settings = azure_settings(host if container else "", os.environ)
            return _azure(**settings), f"{container or host}/{url.key}"


@cache
def _s3(**settings: Any) -> FileSystem:
    from pyarrow.fs import S3FileSystem

    return S3FileSystem(
        **settings,
        connect_timeout=_CONNECT_SECONDS,
        request_timeout=_ANSWER_SECONDS,
        # What is small is written by one request.
        allow_delayed_open=True,
    )


def s3_settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """What the environment says that Arrow does not look for by itself."""
    settings: dict[str, Any] = {}
    endpoint = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
    if endpoint:
        address = urlsplit(endpoint if "//" in endpoint else f"//{endpoint}")
        settings["scheme"] = address.scheme or "https"
        settings["endpoint_override"] = address.netloc.rpartition("@")[2] + address.path.rstrip("/")
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    if region:
        settings["region"] = region
    return settings


@cache
def _region_of(bucket: str) -> str | None:
    """Where a bucket is, if that can be asked; else the client guesses by its own settings."""
    from pyarrow.fs import resolve_s3_region

    try:
        return str(resolve_s3_region(bucket))
    except OSError:
        return None


@cache
def _gs() -> FileSystem:
    from pyarrow.fs import GcsFileSystem

    return GcsFileSystem(retry_time_limit=_RETRY)


@cache
def _azure(**settings: str) -> FileSystem:
    from pyarrow.fs import AzureFileSystem

    return AzureFileSystem(**settings)


def azure_settings(host: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The account of a host name, or of the environment; a key or a signature if there is one."""
    account = next((host.removesuffix(end) for end in _BLOB_HOSTS if host.endswith(end)), host)
    names = {
        "account_name": account or environment.get("AZURE_STORAGE_ACCOUNT"),
        "account_key": environment.get("AZURE_STORAGE_KEY"),
        "sas_token": environment.get("AZURE_STORAGE_SAS_TOKEN"),
    }
    if not names["account_name"]:
        raise OSError(
            None,
            "no account is named: write abfs://container@account/…, or set AZURE_STORAGE_ACCOUNT",
        )
    return {name: value for name, value in names.items() if value}


@cache
def _hdfs(authority: str) -> FileSystem:
    from pyarrow.fs import HadoopFileSystem

    host, _, port = authority.partition(":")
    return HadoopFileSystem(host or "default", int(port) if port.isdigit() else 0)
