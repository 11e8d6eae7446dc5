"""Paths of every odd shape, taken apart."""

from __future__ import annotations

import pytest

from clinker.cxl.builtins import paths

# path, file_name, file_stem, extension, parent, parent_name
PATHS = [
    ("/a/b/c.csv", "c.csv", "c", "csv", "/a/b", "b"),
    ("a/b/c", "c", "c", None, "a/b", "b"),
    ("a/b//", "b", "b", None, "a", "a"),
    ("a//b", "b", "b", None, "a", "a"),
    ("a/b/.", "b", "b", None, "a", "a"),
    ("a/./b", "b", "b", None, "a", "a"),
    ("a/.//./", "a", "a", None, "", None),
    ("./a", "a", "a", None, ".", None),
    ("../a", "a", "a", None, "..", None),
    ("a/../b.x", "b.x", "b", "x", "a/..", None),
    ("/a", "a", "a", None, "/", None),
    ("//a", "a", "a", None, "/", None),
    ("/./a", "a", "a", None, "/", None),
    ("a", "a", "a", None, "", None),
    ("", None, None, None, None, None),
    ("/", None, None, None, None, None),
    ("///", None, None, None, None, None),
    (".", None, None, None, "", None),
    ("..", None, None, None, "", None),
    ("a/..", None, None, None, "a", "a"),
    ("x.tar.gz", "x.tar.gz", "x.tar", "gz", "", None),
    (".bashrc", ".bashrc", ".bashrc", None, "", None),
    (".config.yml", ".config.yml", ".config", "yml", "", None),
    ("..x", "..x", ".", "x", "", None),
    ("...", "...", "..", "", "", None),
    ("a.", "a.", "a", "", "", None),
    ("a.b/c", "c", "c", None, "a.b", "a.b"),
    ("dir/é😀.csv", "é😀.csv", "é😀", "csv", "dir", "dir"),
    ("a b/c d.e f", "c d.e f", "c d", "e f", "a b", "a b"),
    ("/" * 100_000 + "a", "a", "a", None, "/", None),
    ("a\n/b\n", "b\n", "b\n", None, "a\n", "a\n"),
    ("C:\\data\\x.csv", "C:\\data\\x.csv", "C:\\data\\x", "csv", "", None),
]


@pytest.mark.parametrize(("path", "name", "stem", "extension", "parent", "parent_name"), PATHS)
def test_parts(
    path: str,
    name: str | None,
    stem: str | None,
    extension: str | None,
    parent: str | None,
    parent_name: str | None,
) -> None:
    assert paths.file_name(path) == name
    assert paths.file_stem(path) == stem
    assert paths.extension(path) == extension
    assert paths.parent(path) == parent
    assert paths.parent_name(path) == parent_name
