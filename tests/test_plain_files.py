"""Files of configuration are files: whatever else has their name is refused at once."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from clinker.cli.clinker import main
from clinker.plain_files import read_plain

PIPELINE = """\
pipeline: { name: p }
nodes:
  - type: source
    name: rows
    config: { type: csv, path: in.csv, schema: { id: int } }
  - type: transform
    name: changed
    input: rows
    config: { cxl: "use shared as s emit n = s::twice(id)" }
  - type: output
    name: out
    input: changed
    config: { type: fixed_width, path: out.txt, schema: lines.schema.yaml }
"""
FILES = {
    "p.yaml": PIPELINE,
    "in.csv": "id\n1\n",
    "clinker.toml": "",
    "a.channel.yaml": "channel: { name: a, target: p.yaml }\n",
    "lines.schema.yaml": "fields:\n  - { name: id, start: 1, width: 5 }\n",
    "rules/shared.cxl": "fn twice(n) = n * 2\n",
}
COMMANDS = {
    "p.yaml": ("run", "p.yaml", "--dry-run"),
    "clinker.toml": ("run", "p.yaml", "--dry-run"),
    "a.channel.yaml": ("run", "p.yaml", "--dry-run", "--channel", "a.channel.yaml"),
    "lines.schema.yaml": ("run", "p.yaml", "--dry-run"),
    "rules/shared.cxl": ("run", "p.yaml", "--dry-run"),
}


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


OTHERS: dict[str, tuple[Callable[[Path], None], str]] = {
    "pipe": (os.mkfifo, "it is a pipe, not a file"),
    "socket": (make_socket, "it is a socket, not a file"),
    "device": (make_device, "it is a device, not a file"),
    "directory": (Path.mkdir, "Is a directory"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_file(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make, reason = OTHERS[kind]
    make(tmp_path / "p.yaml")
    with pytest.raises(OSError, match=reason):
        read_plain(tmp_path / "p.yaml")


def test_what_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_bytes(b"a\0")
    (tmp_path / "link").symlink_to("p.yaml")
    assert read_plain(tmp_path / "link") == b"a\0"
    with pytest.raises(FileNotFoundError):
        read_plain(tmp_path / "nowhere")


def test_they_are_read_as_files(folder: Path) -> None:
    assert main([*COMMANDS["a.channel.yaml"]]) == 0


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("kind", ["pipe", "directory"])
def test_each_file_of_configuration(
    name: str, kind: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, reason = OTHERS[kind]
    (folder / name).unlink()
    make(folder / name)
    assert main([*COMMANDS[name]]) in (1, 4)
    told = capsys.readouterr().err
    assert Path(name).stem in told
    if name != "rules/shared.cxl":  # such a module is not there
        assert reason in told


def test_files_of_tests(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(folder / "p_test.yaml")
    assert main(["test", "p_test.yaml"]) == 1
    assert "cannot be read: it is a pipe, not a file" in capsys.readouterr().out


def test_pipes_in_directories_are_not_ours(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(folder / "other.yaml")
    assert main(["check"]) == 0
    assert "other.yaml" not in capsys.readouterr().err
    assert main(["check", "other.yaml"]) == 4
    message = "error: cannot read 'other.yaml': it is a pipe, not a file\n"
    assert capsys.readouterr().err == message
