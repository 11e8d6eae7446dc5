"""A memory limit, divided."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.engine.session import SessionSettings
from clinker.engine.session.conf import session_conf
from clinker.engine.session.memory import batch_size, split_memory

MIB = 2**20


@pytest.mark.parametrize(
    ("limit", "cores", "tasks", "heap"),
    [
        (256, 2, 1, 128),
        (480, 2, 1, 128),
        (512, 2, 1, 160),
        (768, 2, 2, 326),
        (1024, 2, 2, 512),
        (1024, 8, 3, 492),
        (4096, 8, 8, 2048),
    ],
)
def test_what_each_task_and_the_heap_get(limit: int, cores: int, tasks: int, heap: int) -> None:
    split = split_memory(limit * MIB, cores)
    assert (split.tasks, split.heap // MIB) == (tasks, heap)


def test_more_threads_than_there_is_memory_for_are_not_used(tmp_path: Path) -> None:
    little = SessionSettings(threads=4)
    assert session_conf(little, tmp_path)["spark.master"] == "local[1]"
    enough = SessionSettings(threads=4, memory_limit=2048 * MIB)
    assert session_conf(enough, tmp_path)["spark.master"] == "local[4]"


def test_a_part_of_a_small_heap_is_left_to_objects() -> None:
    assert split_memory(384 * MIB, 1).reserved == 64 * MIB
    assert split_memory(8000 * MIB, 1).reserved == 300 * MIB


@pytest.mark.parametrize(("limit", "size"), [(256, 16), (1023, 16), (1024, 32), (4096, 64)])
def test_batches_grow_with_the_limit(limit: int, size: int) -> None:
    assert batch_size(limit * MIB) == size
