"""`clinker fmt` as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.cli.clinker import main

WRITTEN = "nodes:\n  - { type: transform, name: t, input: s, cxl: emit a=1 }  # why\n"
FORMATTED = WRITTEN.replace("a=1", "a = 1")


def test_prints_checks_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(WRITTEN)
    assert main(["fmt", str(file)]) == 0
    assert capsys.readouterr() == (FORMATTED, "")
    assert main(["fmt", "--check", str(file)]) == 1
    assert capsys.readouterr() == ("", f"would reformat {file}\n")
    assert file.read_text() == WRITTEN
    assert main(["fmt", "--write", str(file)]) == 0
    assert capsys.readouterr() == ("", f"reformatted {file}\n")
    assert file.read_text() == FORMATTED
    assert main(["fmt", "--check", str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["p.yaml"]


def test_keeps_bytes_around_the_text(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + WRITTEN.replace("\n", "\r\n").encode())
    link = tmp_path / "link.yaml"
    link.symlink_to(file)
    assert main(["fmt", "--write", str(link)]) == 0
    assert file.read_bytes() == b"\xef\xbb\xbf" + FORMATTED.replace("\n", "\r\n").encode()
    assert link.is_symlink()


def test_a_broken_file_is_reported_and_the_others_are_formatted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken, fine = tmp_path / "a.yaml", tmp_path / "b.yaml"
    broken.write_text("nodes: [\npipeline: 1\n")
    fine.write_text(WRITTEN)
    assert main(["fmt", "--write", str(tmp_path)]) == 1
    assert "a.yaml" in capsys.readouterr().err
    assert fine.read_text() == FORMATTED


def test_a_missing_file_is_exit_4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", str(tmp_path / "none.yaml")]) == 4
    assert capsys.readouterr().err == (
        f"error: cannot read '{tmp_path}/none.yaml': No such file or directory\n"
    )
