"""Compressed files are unpacked into the spool."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pytest

from clinker.file_names import Compression
from clinker.formats.common.read_spec import FormatError
from clinker.formats.files.local import input_file
from clinker.formats.files.spool import Spool
from clinker.formats.files.unpacking import find_codec, unpack

TEXT = b"id,amount\n" + b"".join(b"%d,%d\n" % (n, n * 7) for n in range(5000))


def compress(data: bytes, codec: str) -> bytes:
    if codec == "zstd":
        return bytes(pa.compress(data, codec="zstd", asbytes=True))
    return gzip.compress(data) if codec == "gzip" else bz2.compress(data)


def unpacked(tmp_path: Path, content: bytes, codec: str, most: int | None = None) -> bytes:
    path = tmp_path / "packed"
    path.write_bytes(content)
    folder = tmp_path / "spool"
    folder.mkdir()
    copy = unpack(input_file(0, str(path)), codec, Spool(lambda: folder, most))
    assert copy.name == str(path)
    assert Path(copy.path).parent == folder
    return Path(copy.path).read_bytes()


@pytest.mark.parametrize(
    ("path", "compression", "codec"),
    [
        ("a.csv.gz", "auto", "gzip"),
        ("a.CSV.GZ", "auto", "gzip"),
        ("a.json.bz2", "auto", "bz2"),
        ("a.zst", "auto", "zstd"),
        ("a.csv", "auto", None),
        ("a.csv.gz", "none", None),
        ("a.csv", "zstd", "zstd"),
        ("a.csv.gz", "bz2", "bz2"),
    ],
)
def test_names_tell_unless_something_else_is_said(
    path: str, compression: Compression | Literal["auto"], codec: str | None
) -> None:
    assert find_codec(path, compression) == codec


@pytest.mark.parametrize("codec", ["gzip", "bz2", "zstd"])
class TestCodecs:
    def test_members_follow_each_other(self, tmp_path: Path, codec: str) -> None:
        content = compress(TEXT[:100], codec) + compress(TEXT[100:], codec)
        assert unpacked(tmp_path, content, codec) == TEXT

    def test_nothing_can_be_compressed(self, tmp_path: Path, codec: str) -> None:
        assert unpacked(tmp_path, compress(b"", codec), codec) == b""

    @pytest.mark.parametrize("cut", [1, 3, 9, 500])
    def test_a_cut_file(self, tmp_path: Path, codec: str, cut: int) -> None:
        content = compress(TEXT, codec)
        with pytest.raises(FormatError, match="or not whole: unpacking it failed") as raised:
            unpacked(tmp_path, content[:-cut], codec)
        assert raised.value.path == str(tmp_path / "packed")
        assert not list((tmp_path / "spool").iterdir())

    @pytest.mark.parametrize("content", [b"id,amount\n1,2\n", b"\x00" * 50])
    def test_something_else(self, tmp_path: Path, codec: str, content: bytes) -> None:
        with pytest.raises(FormatError, match="is not a"):
            unpacked(tmp_path, content, codec)

    def test_an_empty_file(self, tmp_path: Path, codec: str) -> None:
        with pytest.raises(FormatError, match=f"is empty, which no {codec} file is"):
            unpacked(tmp_path, b"", codec)

    def test_a_bomb(self, tmp_path: Path, codec: str) -> None:
        content = compress(b"\x00" * (64 << 20), codec)
        assert len(content) < 1 << 20
        with pytest.raises(FormatError, match="more to write than storage") as raised:
            unpacked(tmp_path, content, codec, most=8 << 20)
        assert "disk_cap_bytes" in str(raised.value.help)
        assert not list((tmp_path / "spool").iterdir())


def test_zeros_behind_gzip_are_fine(tmp_path: Path) -> None:
    assert unpacked(tmp_path, gzip.compress(TEXT) + b"\x00" * 512, "gzip") == TEXT


@pytest.mark.parametrize("codec", ["gzip", "bz2"])
def test_damage_is_found_by_checksums(tmp_path: Path, codec: str) -> None:
    content = bytearray(compress(TEXT, codec))
    content[len(content) // 2 : len(content) // 2 + 40] = b"x" * 40
    with pytest.raises(FormatError, match="damaged"):
        unpacked(tmp_path, bytes(content), codec)
