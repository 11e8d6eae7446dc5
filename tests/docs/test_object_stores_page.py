"""The page about object stores is true: its example is played against a store."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from clinker.stores.access import MOST_COPIED
from clinker.stores.urls import SCHEMES
from tests.docs.console import commands
from tests.docs.pages import DOCS, blocks_of
from tests.object_store import Store

PAGE = DOCS / "running" / "object-stores.md"
BLOCKS = list(blocks_of(PAGE))


def text(*kind: str) -> str:
    (found,) = (b.text for b in BLOCKS if (b.language, *b.flags) == kind)
    return found


@pytest.fixture
def shop(store: Store, tmp_path: Path) -> Path:
    client = store.client
    client.create_bucket(Bucket="shop")
    for block in BLOCKS:
        if key := block.option("object"):
            client.put_object(Bucket="shop", Key=key, Body=block.text.encode())
    (tmp_path / "clinker.toml").write_text(text("toml", "workspace"))
    (tmp_path / "pipeline.yaml").write_text(text("yaml", "pipeline"))
    return tmp_path


def test_the_example(shop: Path) -> None:
    for command in commands(text("text", "session")):
        done = subprocess.run(
            [str(Path(sys.executable).with_name(command.words[0])), *command.words[1:]],
            cwd=shop,
            env=os.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if not command.matches(done.stdout):
            assert done.stdout == command.expected


def test_every_kind_of_store_is_told() -> None:
    assert set(re.findall(r"`(\w+)(?:://[^`]*)?`", PAGE.read_text())) >= set(SCHEMES)
    assert str(MOST_COPIED) in PAGE.read_text()
