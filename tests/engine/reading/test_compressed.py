"""Runs that read compressed files."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pyarrow as pa
import pytest

from tests.engine.whole_runs import Workplace

CSV = "id,amount\n1,10\n2,many\n3,30\n"
PIPELINE = """
pipeline: { name: p }
error_handling: { strategy: continue, dlq: { path: dlq.csv } }
nodes:
  - type: source
    name: orders
    config: { type: csv, SOURCE, schema: { id: int, amount: int } }
  - type: transform
    name: t
    input: orders
    config: { cxl: 'emit at = $source.file + "#" + $source.row.to_string()' }
  - { type: output, name: o, input: t, config: { type: csv, path: out.csv } }
"""


def test_every_codec_by_the_names_of_files(workplace: Workplace, either_way: str) -> None:
    (workplace.folder / "a.csv").write_text(CSV)
    (workplace.folder / "b.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    (workplace.folder / "c.csv.bz2").write_bytes(bz2.compress(CSV.encode()))
    (workplace.folder / "d.csv.zst").write_bytes(pa.compress(CSV.encode(), "zstd", asbytes=True))
    ran = workplace.run(PIPELINE.replace("SOURCE", "glob: '*.csv*'"))
    assert (ran.code, ran.message) == (2, "")
    files = ["a.csv", "b.csv.gz", "c.csv.bz2", "d.csv.zst"]
    assert workplace.read("out.csv").splitlines()[1:] == [
        f"{row},{row * 10},{file}#{row}" for file in files for row in (1, 3)
    ]
    header, *entries = (line.split(",") for line in workplace.read("dlq.csv").splitlines())
    at = header.index("_cxl_dlq_source_file")
    assert [entry[at] for entry in entries] == files
    assert [entry[-1] for entry in entries] == ["many"] * 4
    assert ran.report
    assert [path.name for path in ran.report.sources[0].files] == files


def test_what_is_said_counts(workplace: Workplace) -> None:
    (workplace.folder / "a.gz").write_text(CSV)
    (workplace.folder / "b").write_bytes(gzip.compress(CSV.encode()))
    for source in ("path: a.gz, compression: none", "path: b, compression: gzip"):
        ran = workplace.run(PIPELINE.replace("SOURCE", source), force=True)
        assert (ran.code, ran.message) == (2, "")
        assert len(workplace.read("out.csv").splitlines()) == 3


def test_a_file_that_was_cut_off(
    workplace: Workplace, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder: Path = tmp_path_factory.mktemp("spill")
    workplace.write(clinker_toml=f"[storage.spill]\ndir = '{folder}'\n")
    (workplace.folder / "a.csv.gz").write_bytes(gzip.compress(CSV.encode())[:-4])
    ran = workplace.run(PIPELINE.replace("SOURCE", "path: a.csv.gz"))
    assert ran.code == 4
    assert ran.message.startswith(
        f"{workplace.folder / 'a.csv.gz'}: is not a gzip file, or damaged"
    )
    assert "copied completely" in ran.help
    assert list(folder.iterdir()) == []


def test_a_bomb(workplace: Workplace) -> None:
    workplace.write(clinker_toml="[storage.spill]\ndisk_cap_bytes = 1000000\n")
    (workplace.folder / "a.csv.gz").write_bytes(gzip.compress(b"0" * 30_000_000))
    ran = workplace.run(PIPELINE.replace("SOURCE", "path: a.csv.gz"))
    assert ran.code == 4
    assert "a.csv.gz: has more to write than storage.spill.disk_cap_bytes allows" in ran.message


def test_messages_name_the_compressed_file(workplace: Workplace) -> None:
    (workplace.folder / "a.csv.gz").write_bytes(gzip.compress(b"\xff\xfe\xfd\n1\n"))
    ran = workplace.run(PIPELINE.replace("SOURCE", "path: a.csv.gz"))
    assert ran.code == 4
    assert ran.message.startswith(str(workplace.folder / "a.csv.gz"))
    assert "clinker-run-" not in ran.message
