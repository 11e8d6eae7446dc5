"""How many bytes of a source have been read."""

from __future__ import annotations

from pathlib import Path

from clinker.engine.reading.meter import Meter
from clinker.formats.reading import Split, input_file


def test_bytes_that_were_read_again_count_once(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("")
    file = input_file(0, str(tmp_path / "in.csv"))
    splits = [Split(file, start, start + 10, 1 + start) for start in (0, 10, 20)]
    meter = Meter(tmp_path / "read")
    meter.reset()
    for split in (splits[0], splits[1], splits[0]):
        assert list(meter.noting(split, iter(()))) == []
    assert meter.read == 20
    meter.reset()
    assert meter.read == 0


def test_a_worker_elsewhere_notes_nothing(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("")
    split = Split(input_file(0, str(tmp_path / "in.csv")), 0, 10, 1)
    meter = Meter(tmp_path / "nowhere" / "read")
    assert list(meter.noting(split, iter(()))) == []
    assert meter.read == 0
