"""The fuzzer finds nothing, and would find something if there were something."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from fuzz import csv_files
from fuzz.__main__ import AREAS, main
from fuzz.findings import Kind, Wrong, dice, judged, smallest

from clinker.formats import reading
from clinker.formats.reading import Inventory, ReadSpec, Split


@pytest.mark.parametrize("area", AREAS)
def test_a_few_rounds(area: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--area", area, "--rounds", "25", "--seed", "11", "--no-spark"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"seed 11, rounds 0 to 24 of {area}\n")
    assert f"tried 25 ({area} 25): traceback 0, hang 0, lost records 0, other result 0" in shown


def test_a_reader_that_loses_records_is_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def forgetful(spec: ReadSpec, inventory: Inventory, split: Split) -> Iterator[pa.RecordBatch]:
        for batch in reading.read_split(spec, inventory, split):
            yield batch.slice(1) if split.first_row > 1 else batch

    monkeypatch.setattr(csv_files, "read_split", forgetful)
    assert main(["--area", "csv", "--rounds", "10", "--no-spark"]) == 1
    shown = capsys.readouterr().out
    assert "lost records in round" in shown
    assert "input: b'" in shown


def test_rounds_can_be_repeated() -> None:
    first, again = (csv_files.made(dice(5, "csv", 3)) for _ in range(2))
    assert first == again
    assert first != csv_files.made(dice(5, "csv", 4))


def test_what_hangs_or_breaks_is_a_finding() -> None:
    def hang() -> None:
        while True:
            pass

    hanging, breaking = judged(hang, 0.1), judged(lambda: 1 / 0)
    assert hanging
    assert hanging.kind is Kind.HANG
    assert breaking
    assert breaking.kind is Kind.TRACEBACK
    assert "ZeroDivisionError" in breaking.detail


def test_findings_are_made_small() -> None:
    def wrong(text: object) -> Wrong | None:
        assert isinstance(text, list)
        return Wrong(Kind.LOST, "") if {"x", "y"} <= set(text) else None

    assert smallest("abcxdefyghi", Kind.LOST, wrong) == ["x", "y"]
