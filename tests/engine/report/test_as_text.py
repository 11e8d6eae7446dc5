"""How the report of a run is shown to people."""

from __future__ import annotations

from pathlib import Path

from clinker.engine.report.as_text import preview_content, preview_summary, summary
from clinker.engine.report.facts import DeadLetterFile, SpilledNode
from clinker.plan.analyses.passing import NodePassing
from tests.engine.report.reports import output, report

HERE = Path.cwd()


def test_the_summary_tells_what_was_written_and_rejected() -> None:
    shown = summary(
        report(
            outputs=(output("result", "out/result.csv"), output("big", "b.csv", size=12_345_678)),
            dead_letter_files=(DeadLetterFile(path=Path("errors.csv"), entries=1),),
            rejections={"type_coercion_failure": 1},
        )
    )
    assert shown == (
        "result        out/result.csv  3 records  120 B\n"
        "big           b.csv           3 records  12.3 MB\n"
        "dead letters  errors.csv      1 entry\n"
        "  1  type_coercion_failure\n"
        "Pipeline complete: 4 total, 3 ok, 3 written, 1 dlq\n"
    )


def test_names_of_files_cannot_write_lines_of_their_own() -> None:
    shown = summary(report(outputs=(output("result", "out/a\nb\x1b[2J.csv"),)))
    assert shown.startswith("result  out/a\\nb\\x1b[2J.csv  3 records")


def test_the_counts_of_nodes() -> None:
    def node(
        name: str, came: int, left: int | None, rejected: int = 0, **ports: int | None
    ) -> NodePassing:
        filtered = None if left is None else came - left - rejected
        return NodePassing(
            name=name,
            kind="",
            records_in=came,
            records_out=left,
            rejected=rejected,
            filtered=filtered,
            distinct=0,
            ports=ports,
        )

    nodes = (node("orders", 1000, 1000), node("kept", 1000, 7, 3), node("r", 7, None, a=3, b=None))
    assert summary(report(outputs=(), nodes=nodes), with_nodes=True) == (
        "node      in   out\n"
        "orders  1000  1000\n"
        "kept    1000     7  3 rejected, 990 filtered\n"
        "r          7     ?  a: 3, b: ?\n"
        "Pipeline complete: 4 total, 3 ok, 3 written, 1 dlq\n"
    )
    assert summary(report(outputs=(), nodes=nodes)).count("\n") == 1


def test_the_most_frequent_reasons_come_first_and_few_are_shown() -> None:
    reasons = {f"reason_{n}": n for n in range(1, 8)}
    shown = summary(report(outputs=(), rejections=reasons)).splitlines()[:-1]
    assert shown == [
        "  7  reason_7",
        "  6  reason_6",
        "  5  reason_5",
        "  4  reason_4",
        "  3  reason_3",
        "  3  for other reasons",
    ]


def test_split_outputs_take_two_lines() -> None:
    paths = [f"out/part-{n}.csv" for n in range(1, 5)]
    assert summary(report(outputs=(output("result", *paths),))).splitlines()[:-1] == [
        "result  out/part-1.csv    3 records  120 B",
        "        and 3 more files",
    ]


def test_a_file_is_shown_as_seen_from_here() -> None:
    outputs = (output("a", str(HERE / "x" / ".." / "a.csv")), output("b", "/elsewhere/b.csv"))
    lines = summary(report(outputs=outputs)).splitlines()
    assert [line.split()[1] for line in lines[:2]] == ["a.csv", "/elsewhere/b.csv"]


def test_a_preview_of_one_output_is_its_bytes() -> None:
    content = "id\nß\n".encode()
    shown = report(outputs=(output("result", "out.csv", preview=content),))
    assert preview_content(shown) == content
    assert preview_summary(shown) == "Preview complete: 4 total, 3 ok, 3 written, 1 dlq\n"


def test_previews_of_several_outputs_stand_below_their_names() -> None:
    outputs = (output("a", "a.csv", preview=b"x\n1\n"), output("b", "b.csv", preview=b"x\n2\n"))
    assert preview_content(report(outputs=outputs)) == (b"==> a <==\nx\n1\n\n==> b <==\nx\n2\n")


def test_what_was_spilled_is_told_last() -> None:
    nodes = (
        SpilledNode(node="by_key", bytes=1048576, estimate=2097152),
        SpilledNode(node=None, bytes=4, estimate=None),
    )
    assert summary(report(spilled=nodes)).splitlines()[-4:] == [
        "=== Spill Volume (actual, per stage) ===",
        "  by_key           → 1048576 bytes  (estimated 2097152 bytes)",
        "  (between nodes)  → 4 bytes",
        "  Total: 1048580 bytes (compare against the --explain estimate)",
    ]
    assert summary(report(spilled=())) == summary(report(spilled=None)) == summary(report())
