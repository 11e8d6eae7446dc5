"""The page about memory and disk is true."""

from __future__ import annotations

import re
from pathlib import Path

from clinker.config.quantities import parse_memory_size
from clinker.engine.report.as_text import summary
from clinker.engine.report.facts import SpilledNode
from clinker.engine.session import memory
from clinker.engine.session.memory import split_memory
from clinker.plan.files.storage import load_storage
from tests.docs.pages import DOCS, blocks_of
from tests.engine.report.reports import report

PAGE = DOCS / "running" / "memory-and-disk.md"
MIB = 2**20


def rows(heading: str) -> list[list[str]]:
    """The cells of the table with this heading."""
    _, _, rest = PAGE.read_text("utf-8").partition(f"| {heading} |")
    lines = rest.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_parts_of_the_limit() -> None:
    parts = [cells[1] for cells in rows("Part")]
    assert parts[:4] == [
        str(size // MIB)
        for size in (
            memory._COMMAND,
            memory._JAVA_BESIDE_HEAP,
            memory._WORKERS_TOGETHER,
            memory._WORKERS_OF_TASK,
        )
    ]


def test_tasks_and_heaps() -> None:
    table = rows("Limit")
    assert len(table) == 6
    for limits, tasks, heap in table:
        for limit in map(parse_memory_size, limits.split(" to ")):
            assert limit
            assert split_memory(limit, 1000).tasks == int(tasks), limits
            assert f"{split_memory(limit, 2).heap // MIB} MiB" == heap, limits


def test_the_workspace(tmp_path: Path) -> None:
    (example,) = (block for block in blocks_of(PAGE) if block.language == "toml")
    (tmp_path / "clinker.toml").write_text(example.text)
    loaded = load_storage(tmp_path)
    assert loaded.settings and not loaded.diagnostics
    assert loaded.settings.spill.disk_cap_bytes == 50 * 10**9


def test_what_was_spilled() -> None:
    (example,) = (block.text for block in blocks_of(PAGE) if block.text.startswith("==="))
    found = re.findall(r"^  (\S+) +→ (\d+) bytes  \(estimated (\d+)", example, re.M)
    nodes = tuple(
        SpilledNode(node=node, bytes=int(size), estimate=int(estimate))
        for node, size, estimate in found
    )
    assert summary(report(spilled=nodes)).endswith(example)
