"""Compressed files: what comes out is what went in, and the same bytes every time."""

from __future__ import annotations

import bz2
import gzip
import io
from pathlib import Path, PurePath

import pyarrow as pa
import pytest

from clinker.file_names import Compression, compression_of, split_name
from clinker.formats.files.compression import CompressedSink
from clinker.formats.files.publication import Publication, Target
from clinker.formats.files.split_names import split_path

DATA = b"".join(b"%d,some text\n" % number for number in range(200_000))


def unpack(compression: Compression, data: bytes) -> bytes:
    match compression:
        case "gzip":
            return gzip.decompress(data)
        case "bz2":
            return bz2.decompress(data)
        case _:
            unpacked: bytes = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
            return unpacked


@pytest.mark.parametrize("compression", ["gzip", "bz2", "zstd"])
def test_the_same_bytes_whatever_the_pieces(compression: Compression) -> None:
    results = []
    for piece in (len(DATA), 1 << 20, 999_983, 777):
        out = io.BytesIO()
        sink = CompressedSink(compression, out)
        for begin in range(0, len(DATA), piece):
            sink.write(memoryview(DATA)[begin : begin + piece])
        sink.close()
        results.append(out.getvalue())
    assert len(set(results)) == 1
    assert unpack(compression, results[0]) == DATA


def test_gzip_tells_neither_time_nor_name() -> None:
    out = io.BytesIO()
    CompressedSink("gzip", out).close()
    assert out.getvalue()[:8] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00"
    assert gzip.decompress(out.getvalue()) == b""


@pytest.mark.parametrize("compression", ["gzip", "bz2", "zstd"])
def test_published_files_have_the_size_that_they_have(
    tmp_path: Path, compression: Compression
) -> None:
    target = Target(path=tmp_path / "a", compression=compression, meta={})
    with Publication("run") as publication:
        with publication.prepare(target) as file:
            file.write(DATA)
            assert file.size == len(DATA)
        published = publication.commit()[0]
    content = (tmp_path / "a").read_bytes()
    assert published.size == len(content) < len(DATA) / 2
    assert b'"bytes_written": %d' % len(content) in (tmp_path / "a.meta.json").read_bytes()
    assert unpack(compression, content) == DATA


@pytest.mark.parametrize("compression", ["gzip", "bz2", "zstd"])
def test_nothing_is_left_of_a_file_that_was_given_up(
    tmp_path: Path, compression: Compression
) -> None:
    target = Target(path=tmp_path / "a", compression=compression)
    with (
        Publication("run") as publication,
        pytest.raises(ZeroDivisionError),
        publication.prepare(target) as file,
    ):
        file.write(DATA)
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "stem", "extension", "compression"),
    [
        ("a.csv", "a", ".csv", "none"),
        ("a.csv.gz", "a", ".csv.gz", "gzip"),
        ("a.b.csv.ZST", "a.b", ".csv.ZST", "zstd"),
        ("a.bz2", "a", ".bz2", "bz2"),
        ("a", "a", "", "none"),
        (".gz", ".gz", "", "none"),
    ],
)
def test_names(name: str, stem: str, extension: str, compression: str) -> None:
    assert split_name(PurePath(name)) == (stem, extension)
    assert compression_of(PurePath(name)) == compression


def test_split_files_are_numbered_before_both_extensions() -> None:
    naming = "{stem}_{seq:04}.{ext}"
    assert split_path(Path("out/a.csv.gz"), naming, 2) == Path("out/a_0002.csv.gz")
