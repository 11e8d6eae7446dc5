"""Signed jars, which an ahead-of-time cache cannot hold, are copied without their signatures."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

from clinker.engine.session import SessionSettings, aot
from clinker.engine.session.command import class_path
from clinker.engine.session.jvm import spark_home
from clinker.engine.session.unsigned import make_unsigned_copies, unsigned_copies

CONTENT = {
    "META-INF/MANIFEST.MF": b"Name: a/A.class\nSHA-256-Digest: x\n",
    "a/A.class": b"\xca\xfe\xba\xbe",
    "a/KEYS.SF": b"a file like any other",
}
SIGNATURE = {"META-INF/DUMMY.SF": b"x", "META-INF/DUMMY.DSA": b"y"}


def jar(path: Path, content: dict[str, bytes]) -> Path:
    with ZipFile(path, "w") as made:
        for name, data in content.items():
            made.writestr(name, data)
    return path


def test_only_signatures_are_missing_in_a_copy(tmp_path: Path) -> None:
    jars = [jar(tmp_path / "a.jar", CONTENT | SIGNATURE), jar(tmp_path / "b.jar", CONTENT)]
    cache = tmp_path / "spark-1-2.aot"
    make_unsigned_copies(jars, cache)
    copies = unsigned_copies(cache)
    assert list(copies) == ["a.jar"]
    with ZipFile(copies["a.jar"]) as copy:
        assert {name: copy.read(name) for name in copy.namelist()} == CONTENT
    copies["a.jar"].write_bytes(b"in use")
    make_unsigned_copies(jars, cache)
    assert copies["a.jar"].read_bytes() == b"in use"


def test_they_take_the_place_of_the_jars(tmp_path: Path) -> None:
    for name in "abc":
        jar(tmp_path / f"{name}.jar", {})
    entries = class_path(tmp_path, SessionSettings(), {}, {"b.jar": Path("/cache/x-b.jar")})
    assert entries == f"{tmp_path}/a.jar:/cache/x-b.jar:{tmp_path}/c.jar"


def test_they_are_outdated_with_their_cache(tmp_path: Path) -> None:
    for name in ("spark-1-2.aot", "spark-1-2-a.jar", "spark-1-3.aot", "spark-1-3-a.jar"):
        (tmp_path / name).touch()
    (tmp_path / "spark-9-1.aot").touch()
    outdated = {file.name for file in aot.outdated(tmp_path / "spark-1-3.aot")}
    assert outdated == {"spark-1-2.aot", "spark-1-2-a.jar"}


def test_the_compiler_that_every_run_uses_is_one_of_them(tmp_path: Path) -> None:
    cache = tmp_path / "spark-1-2.aot"
    make_unsigned_copies(sorted((spark_home() / "jars").glob("*.jar")), cache)
    assert any(name.startswith("janino-") for name in unsigned_copies(cache))
