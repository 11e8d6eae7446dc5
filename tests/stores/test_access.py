"""What stores refuse, in words for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from clinker.stores.access import (
    find,
    list_objects,
    open_object,
    read_object,
    reason_of,
    write_object,
)
from clinker.stores.urls import ObjectUrl
from tests.object_store import Store

URL = ObjectUrl("s3", "data", "in/a.csv")


@pytest.fixture
def guarded(store: Store) -> Iterator[Store]:
    """A store that asks for credentials."""
    store.put(URL.key, "x")
    with store.guarded():
        yield store


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        (lambda: find(URL), "access denied"),
        (lambda: read_object(URL), "access denied"),
        (lambda: list_objects(URL.parent, recursive=False), "the store does not know"),
        (lambda: write_object(URL, b""), "the store does not know"),
    ],
)
def test_credentials_that_nobody_knows(
    guarded: Store, ask: Callable[[], object], reason: str
) -> None:
    with pytest.raises(OSError, match=reason) as refused:
        ask()
    assert "AKIA" not in str(refused.value)
    assert "s3cr3t" not in str(refused.value)


def test_access_denied(guarded: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in guarded.stranger().items():
        monkeypatch.setenv(name, value)
    with pytest.raises(OSError, match="access denied"):
        list_objects(URL.parent, recursive=False)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t")
    with pytest.raises(OSError, match="the store does not accept the credentials"):
        list_objects(URL.parent, recursive=False)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (
            "When x: AWS Error UNKNOWN (HTTP status 418) during HeadObject operation: No response",
            "the store refuses: No response",
        ),
        (
            "AWS Error SLOW_DOWN during PutObject operation: Reduce (Request ID: 1)",
            "the store is overloaded",
        ),
        (
            "google::cloud::Status(UNAVAILABLE: Could not create a OAuth2 access token to",
            "no credentials were found for the store",
        ),
        (
            "Unable to load libjvm\ndlopen(/usr/lib) failed",
            "the client of Hadoop is not installed; libjvm and libhdfs are looked for by "
            "JAVA_HOME, HADOOP_HOME and ARROW_LIBHDFS_DIR",
        ),
        ("something new.\nwith a second line", "something new"),
    ],
)
def test_reasons(told: str, reason: str) -> None:
    assert reason_of(told) == reason


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (ObjectUrl("hdfs", "node:8020", "x"), "the client of Hadoop is not installed"),
        (ObjectUrl("abfs", "container", "x"), "no account is named"),
    ],
)
def test_stores_without_their_settings(
    url: ObjectUrl, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT", raising=False)
    with pytest.raises(OSError, match=reason):
        find(url)


def test_objects_are_read_from_anywhere(store: Store) -> None:
    store.put(URL.key, bytes(range(100)))
    with open_object(URL) as stream:
        version = stream.version
        assert stream.seek(-2, 2) == 98
        assert stream.read(10) == bytes([98, 99])
        assert stream.read(10) == b""
    store.put(URL.key, bytes(100))
    with open_object(URL) as stream:
        assert stream.version != version
