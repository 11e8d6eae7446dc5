"""Outputs and dead letters that are compressed, in whole runs."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

from tests.engine.whole_runs import Workplace


def zstd(path: Path) -> bytes:
    content: bytes = pa.CompressedInputStream(str(path), "zstd").read()
    return content


@pytest.mark.usefixtures("either_way")
def test_by_name_and_by_choice(workplace: Workplace) -> None:
    workplace.write(s_csv="id\n1\n2\nx\n3\n")
    pipeline = """
        pipeline: { name: p }
        nodes:
          - { type: source, name: s, config: { type: csv, path: s.csv, schema: { id: int } } }
          - { type: output, name: a, input: s, config: { type: csv, path: a.csv.gz } }
          - { type: output, name: b, input: s, config: { type: json, path: b.json.zst } }
          - type: output
            name: c
            input: s
            config: { type: csv, path: c.csv, compression: gzip, if_exists: overwrite }
          - type: output
            name: d
            input: s
            config: { type: csv, path: d.csv.gz, split: { max_records: 2 } }
          - type: output
            name: e
            input: s
            config: { type: csv, path: e.gz, compression: none }
        error_handling: { strategy: continue, dlq: { path: dead.csv.gz } }
    """
    assert workplace.run(pipeline).code == 2
    folder = workplace.folder
    assert gzip.decompress((folder / "a.csv.gz").read_bytes()) == b"id\n1\n2\n3\n"
    assert zstd(folder / "b.json.zst") == b'[\n{"id":1},\n{"id":2},\n{"id":3}\n]\n'
    assert (folder / "c.csv").read_bytes() == (folder / "a.csv.gz").read_bytes()
    assert gzip.decompress((folder / "d_0001.csv.gz").read_bytes()) == b"id\n1\n2\n"
    assert gzip.decompress((folder / "d_0002.csv.gz").read_bytes()) == b"id\n3\n"
    assert (folder / "e.gz").read_bytes() == b"id\n1\n2\n3\n"
    assert b"type_coercion_failure" in gzip.decompress((folder / "dead.csv.gz").read_bytes())
