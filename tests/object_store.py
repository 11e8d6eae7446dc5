"""An object store for tests: a real server of S3's protocol, on this machine."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

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
        import boto3
        from botocore.config import Config

        environment = self.environment
        return boto3.client(
            "s3",
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

    def keys(self, prefix: str = "") -> list[str]:
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
