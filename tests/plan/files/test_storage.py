"""Storage: the settings of clinker.toml, and which directories will do for a run."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from clinker.diagnostics import Diagnostic, Severity
from clinker.plan.files.storage import (
    Facts,
    Mount,
    StorageSettings,
    check_storage,
    file_system,
    gather_facts,
    is_network,
    is_staged,
    load_storage,
    read_mounts,
    why_unusable,
)
from tests.plan.compiling import notes

SPILL = '[storage.spill]\ndir = "/spill"\n'
STAGING = '[storage.staging]\nenabled = true\ndir = "/stage"\n'


def settings(base: Path, text: str) -> StorageSettings:
    (base / "clinker.toml").write_text(text)
    loaded = load_storage(base)
    assert loaded.settings and not loaded.diagnostics, shown(loaded.diagnostics)
    return loaded.settings


def problems(base: Path, text: str) -> list[str]:
    (base / "clinker.toml").write_text(text)
    return shown(load_storage(base).diagnostics)


def shown(found: list[Diagnostic]) -> list[str]:
    """`code line message` of each."""
    lines = []
    for problem in found:
        line = f"{problem.primary.location.start.line} " if problem.primary else ""
        lines.append(f"{problem.code} {line}{problem.message}")
    return lines


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    loaded = load_storage(tmp_path)
    assert loaded.settings and loaded.diagnostics == []
    assert loaded.settings.spill_dir == Path(tempfile.gettempdir())
    assert loaded.settings.spill_dir_is_default
    assert loaded.settings.spill.disk_cap_bytes is None
    assert loaded.settings.staging_dir is None


def test_settings_of_a_workspace(tmp_path: Path) -> None:
    found = settings(
        tmp_path, '[storage.spill]\ndir = "tmp/spill"\ndisk_cap_bytes = "10GB"\ncompress = "off"\n'
    )
    assert found.spill_dir == tmp_path / "tmp/spill"
    assert not found.spill_dir_is_default
    assert found.spill.disk_cap_bytes == 10_000_000_000


def test_staging_that_is_not_enabled_has_no_directory(tmp_path: Path) -> None:
    found = settings(tmp_path, '[storage.staging]\nenabled = false\ndir = "/stage"\n')
    assert found.staging_dir is None


@pytest.mark.parametrize(
    ("mode", "columns", "batch", "compressed"),
    [
        ("on", 1, 1, True),
        ("off", 100, 100_000, False),
        ("auto", 1, 2048, True),
        ("auto", 100, 1023, False),
        ("auto", 4, 1024, True),
    ],
)
def test_compression(tmp_path: Path, mode: str, columns: int, batch: int, compressed: bool) -> None:
    found = settings(tmp_path, f'[storage.spill]\ncompress = "{mode}"\n')
    assert found.compresses(columns, batch) is compressed


def test_one_directory_for_both(tmp_path: Path) -> None:
    text = '[storage.spill]\ndir = "same"\n[storage.staging]\nenabled = true\ndir = "./same/"\n'
    (tmp_path / "clinker.toml").write_text(text)
    (problem,) = load_storage(tmp_path).diagnostics
    assert shown([problem]) == ["E334 5 spilled data and staged copies share a directory"]
    assert notes(problem) == ["2:7 storage.spill.dir"]
    off = text.replace("enabled = true", "enabled = false")
    assert problems(tmp_path, off) == []


def test_directories_may_be_absolute_but_not_climb(tmp_path: Path) -> None:
    assert problems(tmp_path, SPILL + STAGING) == []
    assert problems(tmp_path, '[storage.spill]\ndir = "../spill"\n') == [
        "E-SEC-001 2 '../spill' climbs out of its directory with '..'"
    ]


def test_patterns_that_are_no_globs(tmp_path: Path) -> None:
    assert problems(tmp_path, STAGING + 'patterns = ["*.csv", "a["]\n') == [
        "E212 4 'a[' is not a glob: '[' is never closed"
    ]


def test_what_is_wrong_with_the_file_itself(tmp_path: Path) -> None:
    (line,) = problems(tmp_path, '[storage.spill]\ndisk_cap_bytes = "10GiB"\n')
    assert line.startswith("E215 2 ")
    (line,) = problems(tmp_path, "[storage.staging]\nenabled = true\n")
    assert line.startswith("E033 2 ")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "clinker.toml").mkdir()
    loaded = load_storage(tmp_path)
    assert loaded.settings is None
    assert [problem.code for problem in loaded.diagnostics] == ["E071"]


def test_staged_files_match_a_pattern(tmp_path: Path) -> None:
    found = settings(tmp_path, STAGING + 'patterns = ["/mnt/nfs/**", "*.xml"]\n')
    assert is_staged(found, Path("/mnt/nfs/a/b.csv"), tmp_path)
    assert is_staged(found, tmp_path / "data/a.xml", tmp_path)
    assert not is_staged(found, tmp_path / "data/a.csv", tmp_path)
    assert not is_staged(settings(tmp_path, STAGING), Path("/mnt/nfs/a"), tmp_path)


MOUNTS = (
    Mount(Path("/"), "ext4"),
    Mount(Path("/spill"), "ext4"),
    Mount(Path("/ram"), "tmpfs"),
    Mount(Path("/ram/disk"), "xfs"),
    Mount(Path("/share"), "nfs4"),
    Mount(Path("/over"), "ext4"),
    Mount(Path("/over"), "tmpfs"),
)


@pytest.mark.parametrize(
    ("path", "type_"),
    [
        ("/", "ext4"),
        ("/rambo", "ext4"),
        ("/ram", "tmpfs"),
        ("/ram/a/b", "tmpfs"),
        ("/ram/disk/a", "xfs"),
        ("/over/a", "tmpfs"),
    ],
)
def test_the_nearest_mount_counts(path: str, type_: str) -> None:
    assert file_system(Path(path), MOUNTS) == type_


@pytest.mark.parametrize(
    ("type_", "network"),
    [
        ("nfs", True),
        ("nfs4", True),
        ("cifs", True),
        ("smb3", True),
        ("fuse.sshfs", True),
        ("fuse", True),
        ("fuseblk", False),
        ("ext4", False),
        ("tmpfs", False),
        (None, False),
    ],
)
def test_network_file_systems(type_: str | None, network: bool) -> None:
    assert is_network(type_) is network


def test_the_table_of_mounts(tmp_path: Path) -> None:
    table = tmp_path / "mounts"
    table.write_text("dev / ext4 rw 0 0\ntmpfs /a\\040b tmpfs rw 0 0\nodd\n")
    assert read_mounts(table) == (Mount(Path("/"), "ext4"), Mount(Path("/a b"), "tmpfs"))
    assert read_mounts(tmp_path / "none") == ()


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        (SPILL.replace("/spill", "/ram/x"), "E330", "is on tmpfs, which is memory"),
        (SPILL.replace("/spill", "/share/x"), "E331", "is on nfs4, a network file system"),
        (STAGING.replace("/stage", "/share/x"), "E332", "is on nfs4, a network file system"),
    ],
)
def test_volumes_that_will_not_do(tmp_path: Path, text: str, code: str, message: str) -> None:
    (problem,) = check_storage(settings(tmp_path, text), [], Facts(MOUNTS))
    assert problem.code == code
    assert problem.message.endswith(message)
    assert problem.help and problem.primary


def test_volumes_that_will_do(tmp_path: Path) -> None:
    assert check_storage(settings(tmp_path, SPILL + STAGING), [], Facts(MOUNTS)) == []


def test_the_default_directory_is_not_judged(tmp_path: Path) -> None:
    mounts = (Mount(Path("/"), "tmpfs"),)
    assert check_storage(settings(tmp_path, ""), [], Facts(mounts)) == []


def test_staging_on_the_device_of_the_source(tmp_path: Path) -> None:
    found = settings(tmp_path, STAGING)
    here, there = Path("/data/a"), Path("/mnt/b")
    facts = Facts(devices={Path("/stage"): 1, here: 1, there: 2})
    assert shown(check_storage(found, [here, there], facts)) == [
        "E333 3 storage.staging.dir is on the same device as /data/a"
    ]


def test_directories_that_cannot_be_used(tmp_path: Path) -> None:
    facts = Facts(unusable={Path("/spill"): "does not exist", Path("/stage"): "is not a directory"})
    assert shown(check_storage(settings(tmp_path, SPILL + STAGING), [], facts)) == [
        "E074 2 storage.spill.dir /spill does not exist",
        "E074 5 storage.staging.dir /stage is not a directory",
    ]


@pytest.mark.parametrize(
    ("free", "estimate", "codes"),
    [
        (2000, None, []),
        (2000, 0, []),
        (2000, 2000, ["W331"]),
        (2000, 2001, ["W330", "W331"]),
        (5000, 799, []),
        (5000, 800, ["W331"]),
        (None, 10, []),
    ],
)
def test_room_to_spill(
    tmp_path: Path, free: int | None, estimate: int | None, codes: list[str]
) -> None:
    found = settings(tmp_path, SPILL + "disk_cap_bytes = 1000\n")
    problems = check_storage(found, [], Facts(free_bytes=free), estimate)
    assert [problem.code for problem in problems] == codes
    assert all(problem.severity is Severity.WARNING for problem in problems)


def test_no_room_at_all_and_no_file(tmp_path: Path) -> None:
    found = load_storage(tmp_path).settings
    assert found
    (warning,) = check_storage(found, [], Facts(free_bytes=1), 10)
    assert warning.code == "W330" and warning.primary is None
    none = settings(tmp_path, "[storage.spill]\ndisk_cap_bytes = 0\n")
    (warning,) = check_storage(none, [], Facts(free_bytes=100), 10)
    assert warning.code == "W331" and "more than all" in warning.message


def test_looking_at_a_machine(tmp_path: Path) -> None:
    source, stage = tmp_path / "a.csv", tmp_path / "stage"
    source.touch()
    stage.mkdir()
    found = settings(
        tmp_path,
        f'[storage.spill]\ndir = "missing"\n[storage.staging]\nenabled = true\ndir = "{stage}"\n',
    )
    facts = gather_facts(found, [source, tmp_path / "b.csv"])
    assert facts.unusable == {tmp_path / "missing": "does not exist"}
    assert facts.devices.keys() == {stage, source}
    assert facts.free_bytes is None
    spare = gather_facts(settings(tmp_path, '[storage.spill]\ndir = "stage"\n'), [])
    assert spare.unusable == {} and spare.free_bytes and spare.free_bytes > 0


def test_a_directory_is_tried_by_writing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert why_unusable(tmp_path) is None
    assert why_unusable(tmp_path / "file") == "is not a directory"
    assert why_unusable(tmp_path / "none") == "does not exist"
