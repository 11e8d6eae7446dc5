"""The report of a run as people read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from clinker.cxl.failure import printable
from clinker.engine.report.facts import Counts, RunReport, SpilledNode
from clinker.engine.report.notation import absolute, byte_size
from clinker.plan.analyses.passing import NodePassing
from clinker.stores.urls import FilePath, ObjectUrl

_TOP_REASONS = 5


def summary(report: RunReport, *, with_nodes: bool = False) -> str:
    """What a run did, for people; on demand also how many records passed each node."""
    lines = [
        *(_nodes(report.nodes) if with_nodes else ()),
        *_files(report),
        *_reasons(report),
        f"Pipeline complete: {_counts(report.counts)}",
    ]
    lines += _spilled(report.spilled or ())
    return "\n".join(lines) + "\n"


def preview_summary(report: RunReport) -> str:
    """The same for a preview, which leaves no files."""
    lines = [*_reasons(report), f"Preview complete: {_counts(report.counts)}"]
    return "\n".join(lines) + "\n"


def preview_content(report: RunReport) -> bytes:
    """What the outputs would hold; where there are several, each below its name."""
    shown = [(output, output.preview or b"") for output in report.outputs]
    if len(shown) == 1:
        return shown[0][1]
    return b"\n".join(b"==> %s <==\n%s" % (o.name.encode(), content) for o, content in shown)


def _counts(counts: Counts) -> str:
    return f"{counts.total} total, {counts.ok} ok, {counts.written} written, {counts.dlq} dlq"


def _files(report: RunReport) -> list[str]:
    rows = []
    for output in report.outputs:
        size = (_counted(output.records, "record"), byte_size(output.bytes))
        first, *rest = [_shown(path) for path in output.paths] or ["no file"]
        rows.append((output.name, first, *size))
        if rest:
            rows.append(("", f"and {_counted(len(rest), 'more file')}", "", ""))
    for file in report.dead_letter_files:
        entries = _counted(file.entries, "entry", "entries")
        rows.append(("dead letters", _shown(file.path), entries, ""))
    return _table(rows)


def _spilled(nodes: Sequence[SpilledNode]) -> list[str]:
    """What was spilled, beside what was expected."""
    if not nodes:
        return []
    rows = [
        (f"  {node.node or '(between nodes)'}", f"→ {node.bytes} bytes", _expected(node.estimate))
        for node in nodes
    ]
    total = sum(node.bytes for node in nodes)
    return [
        "=== Spill Volume (actual, per stage) ===",
        *_table(rows),
        f"  Total: {total} bytes (compare against the --explain estimate)",
    ]


def _expected(estimate: int | None) -> str:
    return f"(estimated {estimate} bytes)" if estimate else ""


def _nodes(nodes: Sequence[NodePassing]) -> list[str]:
    rows = [("node", "in", "out", "")]
    for node in nodes:
        rows.append((node.name, _number(node.records_in), _number(node.records_out), _fate(node)))
    return _table(rows, align=(str.ljust, str.rjust, str.rjust, str.ljust))


def _fate(node: NodePassing) -> str:
    """What became of records that did not leave, and where those went that did."""
    lost = {"rejected": node.rejected, "filtered": node.filtered, "duplicates": node.distinct}
    told = [f"{number} {word}" for word, number in lost.items() if number]
    return ", ".join([*told, *(f"{port}: {_number(n)}" for port, n in node.ports.items())])


def _number(number: int | None) -> str:
    return "?" if number is None else str(number)


def _shown(path: FilePath) -> str:
    """A file as seen from where the user is, if it is below."""
    if isinstance(path, ObjectUrl):
        return printable(str(path))
    full, here = Path(absolute(path)), Path.cwd()
    return printable(str(full.relative_to(here) if full.is_relative_to(here) else full))


def _reasons(report: RunReport) -> list[str]:
    """The most frequent reasons of rejection."""
    ranked = sorted(report.rejections.items(), key=lambda reason: (-reason[1], reason[0]))
    rows = [(f"  {number}", category) for category, number in ranked[:_TOP_REASONS]]
    left = sum(number for _, number in ranked[_TOP_REASONS:])
    return _table([*rows, (f"  {left}", "for other reasons")] if left else rows)


def _table(
    rows: Sequence[tuple[str, ...]], align: Sequence[Callable[[str, int], str]] | None = None
) -> list[str]:
    if not rows:
        return []
    align = align or [str.ljust] * len(rows[0])
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            pad(cell, width) for pad, cell, width in zip(align, row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def _counted(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
