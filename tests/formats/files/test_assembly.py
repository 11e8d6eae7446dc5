"""From pieces to the file or the files of an output."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinker.cxl.types import INT, STRING
from clinker.formats.common.rendering import render_all
from clinker.formats.common.writing import OutputColumn, Split, WriteError, WriteSpec
from clinker.formats.files.assembly import assemble, existing_file
from clinker.formats.files.parts import write_part
from clinker.formats.files.publication import Publication, Target
from clinker.formats.renderer import renderer
from tests.formats.records import Columns, batch, spec

GROUP = OutputColumn("g", STRING)


def no_warning(message: str) -> None:
    raise AssertionError(message)


def records(groups: Iterable[str | None]) -> Columns:
    keys = list(groups)
    return {"n": (INT, list(range(1, len(keys) + 1))), "g": (STRING, keys)}


def written(
    directory: Path,
    columns: Columns,
    form: WriteSpec,
    *,
    cut: int | None = None,
    warnings: list[str] | None = None,
) -> dict[str, str]:
    """The files of an output; the records come in pieces of `cut`."""
    whole = batch(columns)
    size = cut or max(1, len(whole))
    batches = [whole.slice(begin, size) for begin in range(0, len(whole), size)]
    warn = no_warning if warnings is None else warnings.append
    with Publication("run") as publication:
        pieces = render_all(renderer(form), batches)
        count = assemble(publication, Target(path=directory / "out.csv"), form, pieces, warn)
        published = publication.commit()
    assert count == len(whole) == sum(file.records for file in published)
    paths = [directory / file.path.name for file in published]
    assert [file.size for file in published] == [path.stat().st_size for path in paths]
    return {path.name: path.read_text() for path in paths}


def test_one_file(tmp_path: Path) -> None:
    columns = records("ab")
    assert written(tmp_path, columns, spec(columns), cut=1) == {"out.csv": "n,g\n1,a\n2,b\n"}


def test_one_file_without_records(tmp_path: Path) -> None:
    columns = records("")
    assert written(tmp_path, columns, spec(columns, format="json")) == {"out.csv": "[]\n"}


@pytest.mark.parametrize("cut", [None, 1, 2])
def test_max_records(tmp_path: Path, cut: int | None) -> None:
    columns = records("abcde")
    assert written(tmp_path, columns, spec(columns, split=Split(max_records=2)), cut=cut) == {
        "out_0001.csv": "n,g\n1,a\n2,b\n",
        "out_0002.csv": "n,g\n3,c\n4,d\n",
        "out_0003.csv": "n,g\n5,e\n",
    }


def test_no_file_is_empty_when_records_fill_the_last_one(tmp_path: Path) -> None:
    columns = records("ab")
    assert list(written(tmp_path, columns, spec(columns, split=Split(max_records=2)))) == [
        "out_0001.csv"
    ]


@pytest.mark.parametrize("cut", [None, 1, 2])
def test_max_bytes_count_the_header_and_complete_the_record(
    tmp_path: Path, cut: int | None
) -> None:
    columns = records("abcde")
    assert written(tmp_path, columns, spec(columns, split=Split(max_bytes=9)), cut=cut) == {
        "out_0001.csv": "n,g\n1,a\n2,b\n",
        "out_0002.csv": "n,g\n3,c\n4,d\n",
        "out_0003.csv": "n,g\n5,e\n",
    }


def test_a_header_larger_than_the_limit(tmp_path: Path) -> None:
    columns = records("ab")
    assert written(tmp_path, columns, spec(columns, split=Split(max_bytes=1))) == {
        "out_0001.csv": "n,g\n1,a\n",
        "out_0002.csv": "n,g\n2,b\n",
    }


def test_the_header_only_once(tmp_path: Path) -> None:
    columns = records("ab")
    split = Split(max_records=1, repeat_header=False, naming="{seq:1}")
    assert written(tmp_path, columns, spec(columns, split=split)) == {
        "1": "n,g\n1,a\n",
        "2": "2,b\n",
    }
    no_header = spec(columns, include_header=False, split=split)
    assert written(tmp_path / "new", columns, no_header) == {"1": "1,a\n", "2": "2,b\n"}


@pytest.mark.parametrize("limits", [{"max_records": 2}, {"max_bytes": 30}])
@pytest.mark.parametrize("cut", [None, 1, 2])
def test_each_json_file_is_a_document(
    tmp_path: Path, limits: dict[str, int], cut: int | None
) -> None:
    columns = records("abcde")
    split = Split(repeat_header=False, **limits)  # type: ignore[arg-type]
    files = written(tmp_path, columns, spec(columns, format="json", split=split), cut=cut)
    assert [[record["n"] for record in json.loads(text)] for text in files.values()] == [
        [1, 2],
        [3, 4],
        [5],
    ]


def test_a_split_output_without_records_is_one_file(tmp_path: Path) -> None:
    columns = records("")
    split = Split(max_records=2)
    assert written(tmp_path, columns, spec(columns, split=split)) == {"out_0001.csv": "n,g\n"}
    as_json = spec(columns, format="json", split=split)
    assert written(tmp_path / "new", columns, as_json) == {"out_0001.csv": "[]\n"}


@pytest.mark.parametrize("cut", [None, 1, 7])
def test_groups_stay_together(tmp_path: Path, cut: int | None) -> None:
    columns = records("A" * 10 + "B" * 10 + "C" * 10)
    form = spec(columns, split=Split(max_records=15, group_key=GROUP))
    files = written(tmp_path, columns, form, cut=cut)
    assert [text.count("\n") - 1 for text in files.values()] == [20, 10]


@pytest.mark.parametrize("cut", [None, 1, 3])
def test_a_group_that_is_too_large_alone(tmp_path: Path, cut: int | None) -> None:
    columns = records(["A", "B", "B", "B", None, "C", "C", "C"])
    form = spec(columns, split=Split(max_records=2, group_key=GROUP))
    warnings: list[str] = []
    files = written(tmp_path, columns, form, cut=cut, warnings=warnings)
    assert [text.count("\n") - 1 for text in files.values()] == [4, 4]
    assert warnings == [
        f"{tmp_path}/out.csv: {group} has 3 records and 12 bytes, more than a file may have"
        for group in ('the group "B"', 'the group "C"')
    ]


def test_too_large_groups_may_be_allowed_or_refused(tmp_path: Path) -> None:
    columns = records("ABBB")
    allowed = Split(max_bytes=5, group_key=GROUP, oversize_group="allow")
    assert len(written(tmp_path, columns, spec(columns, split=allowed))) == 2
    refused = Split(max_bytes=5, group_key=GROUP, oversize_group="error")
    with pytest.raises(WriteError, match='the group "B" has 3 records'):
        written(tmp_path / "new", columns, spec(columns, split=refused))
    assert not (tmp_path / "new").exists()


def test_parts_are_split_like_pieces_in_memory(tmp_path: Path) -> None:
    columns = records("AAABBC")
    form = spec(columns, format="json", split=Split(max_records=2, group_key=GROUP))
    parts = [
        write_part(tmp_path, form, [batch(columns).slice(0, 2), batch(columns).slice(2, 3)]),
        write_part(tmp_path, form, []),
        write_part(tmp_path, form, [batch(columns).slice(5)]),
    ]
    in_memory = written(tmp_path / "a", columns, form, warnings=[])
    with Publication("run") as publication:
        warnings: list[str] = []
        assemble(publication, Target(path=tmp_path / "b" / "out.csv"), form, parts, warnings.append)
        published = publication.commit()
    assert {file.path.name: Path(str(file.path)).read_text() for file in published} == in_memory
    assert len(warnings) == 1


def expected_files(groups: list[str | None], split: Split, header: int) -> list[list[int]]:
    """What the rules say, record by record."""
    files: list[list[int]] = []
    size = 0
    for number, group in enumerate(groups, 1):
        full = not files or (
            (split.max_records is not None and len(files[-1]) >= split.max_records)
            or (split.max_bytes is not None and size >= split.max_bytes)
        )
        boundary = split.group_key is None or number == 1 or group != groups[number - 2]
        if full and boundary:
            files.append([])
            size = header
        files[-1].append(number)
        size += len(f"{number},{group or ''}\n")
    return files


@given(
    groups=st.lists(st.sampled_from(["A", "B", "long", None]), min_size=1, max_size=30),
    max_records=st.none() | st.integers(1, 8),
    max_bytes=st.integers(1, 60),
    grouped=st.booleans(),
    cut=st.integers(1, 30),
)
def test_splitting_is_what_the_rules_say(
    groups: list[str | None], max_records: int | None, max_bytes: int, grouped: bool, cut: int
) -> None:
    columns = records(groups)
    split = Split(
        max_records=max_records,
        max_bytes=max_bytes,
        group_key=GROUP if grouped else None,
        oversize_group="allow",
    )
    with TemporaryDirectory() as directory:
        files = written(Path(directory), columns, spec(columns, split=split), cut=cut)
    numbers = [
        [int(line.split(",")[0]) for line in text.splitlines()[1:]] for text in files.values()
    ]
    assert numbers == expected_files(groups, split, header=4)


def test_what_stands_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "out.csv").touch()
    (tmp_path / "r_0003.csv").touch()
    target, naming = Target(path=tmp_path / "out.csv"), "r_{seq:04}.csv"
    assert existing_file(target, None) == tmp_path / "out.csv"
    assert existing_file(target, naming) == tmp_path / "r_0003.csv"
    assert existing_file(target, "{stem}_{seq:04}.{ext}") is None
    assert existing_file(Target(path=tmp_path / "new.csv"), None) is None
    forced = Target(path=tmp_path / "out.csv", if_exists="overwrite")
    assert existing_file(forced, None) is None
    assert existing_file(forced, naming) is None


def test_files_that_are_left_from_a_larger_run(tmp_path: Path) -> None:
    for number in range(1, 5):
        (tmp_path / f"out_000{number}.csv").touch()
    columns = records("abc")
    form = spec(columns, split=Split(max_records=2))
    target = Target(path=tmp_path / "out.csv", if_exists="overwrite")
    warnings: list[str] = []
    with Publication("run") as publication:
        pieces = [renderer(form).render(batch(columns))]
        assemble(publication, target, form, pieces, warnings.append)
    left = [tmp_path / "out_0003.csv", tmp_path / "out_0004.csv"]
    assert warnings == [f"left from an earlier run that wrote more files: {left[0]}, {left[1]}"]


def test_pieces_without_records_are_skipped(tmp_path: Path) -> None:
    columns = records("ab")
    form = spec(columns, format="json", split=Split(max_records=1))
    empty = renderer(form).render(batch(columns).slice(0, 0))
    full = renderer(form).render(batch(columns))
    with Publication("run") as publication:
        pieces = [empty, full, empty]
        assert assemble(publication, Target(path=tmp_path / "o"), form, pieces, no_warning) == 2
        assert len(publication.commit()) == 2
    assert isinstance(empty.body, pa.Buffer)
