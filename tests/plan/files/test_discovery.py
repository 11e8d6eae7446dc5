"""Which files a source reads and in which order; patterns that do not work."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from textwrap import indent

import pytest

from clinker.config.nodes import SourceNode
from clinker.diagnostics import Diagnostic
from clinker.plan.files.discovery import (
    Discovery,
    check_inputs,
    check_patterns,
    discover,
    discover_all,
)
from clinker.plan.options import Options
from tests.plan.compiling import brief, wired

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def source(settings: str, kind: str = "csv") -> str:
    """The settings start on line 9 of the file, in column 5."""
    return (
        "- type: source\n  name: s\n  config:\n"
        f"    type: {kind}\n    schema: {{ id: int }}\n{indent(settings, '    ')}\n"
    )


def discovered(base: Path, settings: str, **options: object) -> Discovery:
    _, graph = wired(source(settings))
    node = graph.units["s"].node
    assert isinstance(node, SourceNode)
    return discover(node.name, node.config, Options(base, **options), NOW)  # type: ignore[arg-type]


def names(base: Path, settings: str) -> list[str]:
    return [file.name for file in discovered(base, settings).files]


def problems(base: Path, settings: str) -> list[Diagnostic]:
    _, graph = wired(source(settings))
    return check_inputs(graph, Options(base), discover_all(graph, Options(base), NOW))


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Files of 1, 2, … bytes, each modified a day before the one listed ahead of it."""
    listed = "data/b.csv data/a.csv data/a.txt data/sub/c.csv data/sub/deep/d.csv data/.hidden.csv"
    for days, name in enumerate(listed.split(), 1):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x" * days)
        moment = NOW.timestamp() - days * 86400
        os.utime(file, (moment, moment))
    return tmp_path


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ("path: data/a.csv", ["data/a.csv"]),
        ("path: ./data/a.csv", ["data/a.csv"]),
        ("paths: [data/b.csv, data/a.csv]", ["data/b.csv", "data/a.csv"]),
        ("glob: data/*.csv", ["data/.hidden.csv", "data/a.csv", "data/b.csv"]),
        ("glob: ./data/?.csv", ["data/a.csv", "data/b.csv"]),
        ("glob: data/[!a].csv", ["data/b.csv"]),
        ("glob: data/*/*.csv", ["data/sub/c.csv"]),
        ("glob: data/sub/**/*.csv", ["data/sub/c.csv", "data/sub/deep/d.csv"]),
        ("glob: data/sub/**", ["data/sub/c.csv", "data/sub/deep/d.csv"]),
        ("glob: DATA/*.csv", []),
        ("glob: data/*", ["data/.hidden.csv", "data/a.csv", "data/a.txt", "data/b.csv"]),
        ("regex: 'a\\.(csv|txt)$'", ["data/a.csv", "data/a.txt"]),
        ("regex: '^data/[a-z]\\.csv$'", ["data/a.csv", "data/b.csv"]),
        ("regex: 'csv'\nfiles: { recursive: false }", []),
    ],
)
def test_matchers(base: Path, settings: str, found: list[str]) -> None:
    assert names(base, settings) == found


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ("exclude: ['a.*']", ["data/.hidden.csv", "data/b.csv"]),
        ("exclude: ['data/*.csv']", ["data/a.txt"]),
        ("exclude: ['./data/[ab].*']", ["data/.hidden.csv"]),
        ("exclude: ['*']", []),
        ("min_size: 2B", ["data/.hidden.csv", "data/a.csv", "data/a.txt"]),
        ("max_size: 2", ["data/a.csv", "data/b.csv"]),
        ("modified_after: 2d", ["data/a.csv", "data/b.csv"]),
        ("modified_before: 2d", ["data/.hidden.csv", "data/a.csv", "data/a.txt"]),
        ("modified_after: '2026-01-30T00:00:00Z'", ["data/b.csv"]),
        (
            "modified_after: 999999999d",
            ["data/.hidden.csv", "data/a.csv", "data/a.txt", "data/b.csv"],
        ),
        ("files: { take_first: 1 }", ["data/.hidden.csv"]),
        ("files: { take_last: 2 }", ["data/a.txt", "data/b.csv"]),
        ("files: { sort_order: desc, take_first: 1 }", ["data/b.csv"]),
        ("files: { sort_by: modified, take_first: 2 }", ["data/.hidden.csv", "data/a.txt"]),
        ("files: { sort_by: modified, sort_order: desc, take_first: 1 }", ["data/b.csv"]),
        ("exclude: ['.*']\nmin_size: 2\nfiles: { take_last: 1 }", ["data/a.txt"]),
    ],
)
def test_filters_then_order_then_take(base: Path, settings: str, found: list[str]) -> None:
    assert names(base, f"glob: data/*\n{settings}") == found


def test_a_list_of_paths_keeps_its_order_unless_told(base: Path) -> None:
    listed = "paths: [data/b.csv, data/a.txt, data/a.csv]"
    assert names(base, listed) == ["data/b.csv", "data/a.txt", "data/a.csv"]
    ordered = ["data/a.csv", "data/a.txt", "data/b.csv"]
    assert names(base, f"{listed}\nfiles: {{ sort_by: name }}") == ordered
    assert names(base, f"{listed}\nfiles: {{ take_first: 1 }}") == ["data/b.csv"]


def test_names_are_compared_directory_by_directory(tmp_path: Path) -> None:
    for name in ("a.csv", "a-b/c.csv", "a/z.csv", "B.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert names(tmp_path, "regex: csv") == ["B.csv", "a/z.csv", "a-b/c.csv", "a.csv"]


def test_sizes_and_times_are_reported(base: Path) -> None:
    (file,) = discovered(base, "path: data/b.csv").files
    assert (file.path, file.size) == (base / "data/b.csv", 1)
    assert file.modified == datetime(2026, 1, 30, 12, tzinfo=UTC)


def test_links_that_lead_out_are_not_read(
    base: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.csv"
    secret.touch()
    (base / "data/link.csv").symlink_to(secret)
    (base / "data/loop.csv").symlink_to("loop.csv")
    found = discovered(base, "glob: data/l*.csv")
    assert found.files == ()
    assert [file.name for file in found.outside] == ["data/link.csv"]
    assert [problem.code for problem in problems(base, "glob: data/l*.csv")] == ["E-SEC-001"]
    allowed = discovered(base, "glob: data/l*.csv", allow_absolute_paths=True)
    assert [file.name for file in allowed.files] == ["data/link.csv"]


def test_globs_may_start_above_the_base_directory_in_the_workspace(base: Path) -> None:
    inner = base / "inner"
    inner.mkdir()
    found = discovered(inner, "glob: ../data/*.csv", workspace=base)
    assert [file.name for file in found.files] == [
        "../data/.hidden.csv",
        "../data/a.csv",
        "../data/b.csv",
    ]
    assert [file.path for file in found.files][1] == base / "data" / "a.csv"


def test_links_in_a_circle_are_no_files(base: Path) -> None:
    (base / "data/loop").symlink_to("loop")
    (base / "data/self").symlink_to(".")
    assert names(base, "glob: data/loop*") == []
    assert names(base, "glob: data/**/b.csv") == ["data/b.csv"]
    assert names(base, "regex: b.csv") == ["data/b.csv"]
    (problem,) = problems(base, "path: data/loop")
    assert problem.message == "'data/loop' cannot be read: Too many levels of symbolic links"


@pytest.mark.parametrize("seconds", [-(2**33), -1, 0, 2**33, 2**38])
def test_odd_times(base: Path, seconds: int) -> None:
    os.utime(base / "data/b.csv", (seconds, seconds))
    (file,) = discovered(base, "path: data/b.csv").files
    assert (file.modified < datetime(1970, 1, 2, tzinfo=UTC)) == (seconds <= 0)
    kept = seconds > 2**32
    assert (names(base, "path: data/b.csv\nmodified_after: 1d") == ["data/b.csv"]) == kept


def test_names_that_are_not_utf_8_are_shown_escaped(base: Path) -> None:
    Path(os.fsdecode(os.fsencode(base) + b"/data/\xff\n.csv")).write_text("x")
    (file,) = discovered(base, "glob: data/*\nexclude: ['*.txt', '[ab].csv', '.*']").files
    assert file.name == "data/\\xff\n.csv"
    assert isinstance(file.path, Path)
    assert file.path.read_text() == "x"


@pytest.mark.parametrize("matcher", ["path", "glob"])
def test_names_that_are_too_long(base: Path, matcher: str) -> None:
    assert [d.code for d in problems(base, f"{matcher}: {'x' * 300}.csv")] == ["E216"]


def test_pipes_are_not_read(base: Path) -> None:
    os.mkfifo(base / "data/pipe.csv")
    (problem,) = problems(base, "path: data/pipe.csv")
    assert problem.message == "'data/pipe.csv' is a pipe or a device, not a file"


@pytest.mark.parametrize(
    ("settings", "message", "help"),
    [
        ("path: data/c.csv", "E216 9:11 'data/c.csv' does not exist", "did you mean 'data/"),
        ("path: nope/c.csv", "E216 9:11 'nope/c.csv' does not exist", "paths are relative to /"),
        ("path: data/a.csv/x", "E216 9:11 'data/a.csv/x' does not exist", "paths are relative"),
        (
            "path: data",
            "E216 9:11 'data' is a directory",
            "to read the files in it, write glob: data/*",
        ),
        ("paths: [data/a.csv, x.csv]", "E216 9:25 'x.csv' does not exist", "paths are relative"),
        ("glob: data/*.xml", "E216 9:11 no file matches 'data/*.xml'", "paths are relative"),
        ("regex: xml", "E216 9:12 no file matches 'xml'", "paths are relative"),
        (
            "glob: data/*.csv\nexclude: [a.csv]\nmin_size: 1KB",
            "E216 9:11 3 files match, but none is left to read",
            "'exclude' leaves out 1, 'min_size' leaves out 2",
        ),
        (
            "path: data/a.csv\nmax_size: 1",
            "E216 9:11 1 file matches, but none is left to read",
            "'max_size' leaves out 1",
        ),
    ],
)
def test_nothing_to_read(base: Path, settings: str, message: str, help: str) -> None:
    found = problems(base, settings)
    assert brief(found) == [message]
    assert found[0].is_error
    assert set((found[0].help or "").split(", ")) == set(help.split(", ")) or (
        found[0].help or ""
    ).startswith(help)


def test_a_missing_file_may_be_tolerated(base: Path) -> None:
    (warning,) = problems(base, "path: x.csv\nfiles: { on_no_match: warn }")
    assert brief([warning]) == ["W070 9:11 'x.csv' does not exist; the run goes on without"]
    assert not warning.is_error
    assert problems(base, "glob: x*\nfiles: { on_no_match: skip }") == []


def test_sources_without_files_are_left_alone(base: Path) -> None:
    rest = "transport: { kind: rest, url: 'https://x.example', max_pages: 1 }"
    _, graph = wired(source(rest, "json"))
    assert check_inputs(graph, Options(base), discover_all(graph, Options(base), NOW)) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("glob: 'a[.csv'", "E212 9:13 'a[.csv' is not a glob: '[' is never closed"),
        (
            "glob: data/[z-a].csv",
            "E212 9:16 'data/[z-a].csv' is not a glob: the range z-a is empty",
        ),
        (
            "glob: data/**.csv",
            "E212 9:16 'data/**.csv' is not a glob: '**' stands for whole directories",
        ),
        ("path: x\nexclude: ['a', 'b[']", "E212 10:22 'b[' is not a glob: '[' is never closed"),
    ],
)
def test_globs_that_cannot_be_understood(settings: str, message: str) -> None:
    _, graph = wired(source(settings))
    found = check_patterns(graph)
    assert brief(found) == [message]
    assert found[0].help


@pytest.mark.parametrize("pattern", ["a(", "(?=a)", "[z-a]", "*"])
def test_regular_expressions_that_cannot_be_understood(pattern: str) -> None:
    _, graph = wired(source(f"regex: '{pattern}'"))
    (problem,) = check_patterns(graph)
    assert problem.code == "E213"
    assert problem.message.startswith(f"'{pattern}' is not a regular expression: ")
    assert problem.primary and problem.primary.location.start.line == 9


def test_a_pattern_that_takes_forever_is_given_up(tmp_path: Path) -> None:
    (tmp_path / ("a" * 200 + "!")).touch()
    found = problems(tmp_path, "regex: '(.*a){20}b'")
    assert brief(found)[0].startswith(
        "E216 9:12 '(.*a){20}b' takes longer than 1 s on a text of 201"
    )
    assert found[0].help == "write it without repetitions inside of repetitions, or use a glob"
