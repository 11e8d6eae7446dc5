"""An object store for tests: a real server of S3's protocol, on this machine."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.request import Request, urlopen

BUCKET = "data"
_SERVER = """
import sys
from moto.server import main
main(["-H", "127.0.0.1", "-p", sys.argv[1]])
"""
_SECONDS_TO_START = 60


@dataclass(frozen=True)
class Store:
    """A store while it runs, with one bucket."""

    port: int

    @property
    def environment(self) -> Mapping[str, str]:
        """What leads to it."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_ACCESS_KEY_ID": "AKIATESTS",
            "AWS_SECRET_ACCESS_KEY": "s3cr3t-k3y",
            "AWS_REGION": "us-east-1",
        }

    @property
    def client(self) -> Any:
        """Another program's view of it."""
        return self._client("s3")

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """While it asks for credentials, and knows only those of a stranger."""
        self._count_as_free(0)
        try:
            yield
        finally:
            self._count_as_free(10**9)

    def stranger(self) -> Mapping[str, str]:
        """The credentials of somebody who may do nothing."""
        self._count_as_free(10**9)
        users, name = self._client("iam"), uuid.uuid4().hex
        users.create_user(UserName=name)
        key = users.create_access_key(UserName=name)["AccessKey"]
        self._count_as_free(0)
        return {
            "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
        }

    def _count_as_free(self, requests: int) -> None:
        """So many requests are answered before credentials are looked at."""
        address = f"{self.environment['AWS_ENDPOINT_URL']}/moto-api/reset-auth"
        kind = {"Content-Type": "text/plain"}
        asked = Request(address, f"{requests}".encode(), kind, method="POST")
        with urlopen(asked) as answer:
            answer.read()

    def _client(self, service: str) -> Any:
        import boto3
        from botocore.config import Config

        environment = self.environment
        return boto3.client(
            service,
            endpoint_url=environment["AWS_ENDPOINT_URL"],
            aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
            region_name=environment["AWS_REGION"],
            config=Config(retries={"max_attempts": 1}),
        )

    def put(self, key: str, content: bytes | str) -> None:
        body = content.encode() if isinstance(content, str) else content
        self.client.put_object(Bucket=BUCKET, Key=key, Body=body)

    def get(self, key: str) -> bytes:
        content: bytes = self.client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
        return content

    def listed(self, prefix: str = "") -> list[str]:
        """The objects there, without those that only stand for directories."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
        found = [each["Key"] for page in pages for each in page.get("Contents", ())]
        return [key for key in found if not key.endswith("/")]

    def clear(self) -> None:
        client = self.client
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET):
            for each in page.get("Contents", ()):
                client.delete_object(Bucket=BUCKET, Key=each["Key"])


@contextmanager
def running_store() -> Iterator[Store]:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER, str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            _wait_for(port)
            store = Store(port)
            store.client.create_bucket(Bucket=BUCKET)
            yield store
        finally:
            server.kill()


def _wait_for(port: int) -> None:
    end = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < end:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.05)
    raise TimeoutError("the store does not start")
