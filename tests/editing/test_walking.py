from __future__ import annotations

from pathlib import Path

from clinker.editing.kinds import FileKind
from clinker.editing.walking import File, UnknownKind, read_files

PIPELINE = "pipeline: { name: p }\nnodes: []\n"


def test_directories_are_searched_for_our_files(tmp_path: Path) -> None:
    for name, text in {
        "b/p.yaml": PIPELINE,
        "a.cxl": "emit a = 1\n",
        "a.csv": "a\n",
        "other.yaml": "services: {}\n",
        ".git/p.yaml": PIPELINE,
        "b/clinker.toml": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    files = [f for f in read_files([str(tmp_path)]) if isinstance(f, File)]
    assert [(str(f.path.relative_to(tmp_path)), f.kind) for f in files] == [
        ("a.cxl", FileKind.PROGRAM),
        ("b/clinker.toml", FileKind.WORKSPACE),
        ("b/p.yaml", FileKind.PIPELINE),
    ]


def test_a_named_file_is_ours_if_it_can_be(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("nods: []\n")
    (tmp_path / "x.csv").write_text("a\n")
    yaml, csv, missing = read_files([str(tmp_path / name) for name in ("x.yaml", "x.csv", "y")])
    assert isinstance(yaml, File)
    assert yaml.kind is FileKind.PIPELINE
    assert isinstance(csv, UnknownKind)
    assert isinstance(missing, FileNotFoundError)


def test_each_file_once(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(PIPELINE)
    (tmp_path / "link.yaml").symlink_to("p.yaml")
    assert len([*read_files([str(tmp_path), str(tmp_path / "p.yaml")])]) == 1
