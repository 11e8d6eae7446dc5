"""The file of dead letters."""

from __future__ import annotations

import csv
import datetime as dt
import uuid
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from clinker.cxl.run.tagged import encode
from clinker.cxl.values import Value
from clinker.formats.files import dead_letter_file
from clinker.formats.files.dead_letter_file import Entries, Entry, prepare_dead_letter_file
from clinker.formats.files.publication import Publication, Target

HEADER = (
    "_cxl_dlq_id,_cxl_dlq_timestamp,_cxl_dlq_source_file,_cxl_dlq_source_name,_cxl_dlq_source_row,"
    "_cxl_dlq_stage,_cxl_dlq_route,_cxl_dlq_trigger"
)
REASON = (
    ",_cxl_dlq_error_category,_cxl_dlq_error_detail,"
    "_cxl_dlq_triggering_field,_cxl_dlq_triggering_value"
)


def letter(**fields: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "source_file": "in.csv",
        "source_name": "src",
        "source_row": 2,
        "node": "transform:validate",
        "route": "",
        "trigger": "",
        "category": "type_coercion_failure",
        "detail": "cannot convert 'bad' to Int",
        "field": "val",
        "value": "bad",
        "origin": encode({"id": "A", "val": "bad"}),
    }
    return given | fields


def entries_of(given: list[dict[str, Any]]) -> Entries:
    texts = dict.fromkeys(Entry._fields, pa.string())
    return Entries(pa.Table.from_pylist(given, pa.schema(texts | {"source_row": pa.int64()})))


def written(
    directory: Path,
    letters: list[dict[str, Any]],
    columns: tuple[str, ...] = ("id", "val"),
    include_reason: bool = True,
    include_source_row: bool = True,
) -> str | None:
    path = directory / "errors.csv"
    with Publication("run") as publication:
        count = prepare_dead_letter_file(
            publication,
            Target(path=path),
            entries_of(letters),
            source_columns=columns,
            include_reason=include_reason,
            include_source_row=include_source_row,
        )
        assert count == len(letters)
        publication.commit()
    return path.read_bytes().decode() if path.exists() else None


def without_id_and_time(text: str | None) -> list[str]:
    assert text is not None
    return [line.split(",", 2)[2] for line in text.splitlines()[1:]]


def test_everything(tmp_path: Path) -> None:
    text = written(tmp_path, [letter(trigger="positive", route="high")])
    assert text is not None
    assert text.splitlines()[0] == HEADER + REASON + ",id,val"
    assert without_id_and_time(text) == [
        "in.csv,src,2,transform:validate,high,positive,"
        "type_coercion_failure,cannot convert 'bad' to Int,val,bad,A,bad"
    ]


def test_the_least(tmp_path: Path) -> None:
    text = written(
        tmp_path, [letter(source_row=None)], include_reason=False, include_source_row=False
    )
    assert text is not None
    assert text.splitlines()[0] == HEADER
    assert without_id_and_time(text) == ["in.csv,src,,transform:validate,,"]


def test_no_letters_no_file(tmp_path: Path) -> None:
    assert written(tmp_path, []) is None


def test_source_fields_of_every_kind(tmp_path: Path) -> None:
    origin: dict[str, Value] = {
        "text": 'a,"b"\r',
        "whole": 88.0,
        "at": dt.datetime(2024, 1, 15, 10, 30),
        "day": dt.date(2024, 1, 15),
        "yes": True,
        "null": None,
        "list": [1, 2.0, "x"],
        "map": {"k": dt.date(2024, 1, 15)},
    }
    text = written(
        tmp_path,
        [letter(origin=encode(origin)), letter(origin=None)],
        columns=(*origin, "absent"),
    )
    assert text is not None
    shown, nothing = list(csv.reader(text.splitlines(keepends=True), strict=True))[1:]
    assert shown[12:] == [
        'a,"b"\r',
        "88",
        "2024-01-15T10:30:00",
        "2024-01-15",
        "true",
        "",
        '[1,2.0,"x"]',
        '{"k":"2024-01-15"}',
        "",
    ]
    assert nothing[12:] == [""] * 9


def test_source_fields_of_several_kinds_in_one_column(tmp_path: Path) -> None:
    moment = dt.datetime(2024, 1, 15, 10, 30, 0, 250_000)
    values: list[Value] = ["x", None, moment, moment.date(), float("inf"), float("nan"), -1e20]
    shown = ["x", "", "2024-01-15T10:30:00.250", "2024-01-15", "inf", "NaN", f"-1{'0' * 20}"]
    text = written(tmp_path, [letter(origin=encode({"id": v, "val": v})) for v in values])
    assert [line.split(",")[-2:] for line in without_id_and_time(text)] == [[x, x] for x in shown]
    (tmp_path / "errors.csv").unlink()
    values += [5, True, [None]]
    text = written(tmp_path, [letter(origin=encode({"id": v})) for v in values])
    assert [line.split(",")[-2] for line in without_id_and_time(text)] == [
        *shown,
        "5",
        "true",
        "[null]",
    ]


def test_letters_one_by_one_and_by_source() -> None:
    given = [letter(source_row=row, source_name=name) for row, name in enumerate("abca")]
    letters = entries_of(given)
    assert [one._asdict() for one in letters] == given
    assert [one.source_row for one in letters.of_sources(["a", "c"])] == [0, 2, 3]
    assert not letters.of_sources([])


def test_pieces_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = [letter(source_row=row, origin=encode({"id": "a" * row})) for row in range(50)]
    whole = without_id_and_time(written(tmp_path, given))
    monkeypatch.setattr(dead_letter_file, "_BYTES_AT_ONCE", 1000)
    (tmp_path / "errors.csv").unlink()
    assert without_id_and_time(written(tmp_path, given)) == whole


def test_ids_grow_and_times_are_utc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead_letter_file, "_BYTES_AT_ONCE", 1000)
    text = written(tmp_path, [letter() for _ in range(50)])
    assert text is not None
    rows = list(csv.DictReader(text.splitlines()))
    ids = [row["_cxl_dlq_id"] for row in rows]
    assert ids == sorted(set(ids))
    assert {uuid.UUID(made).version for made in ids} == {7}
    times = [dt.datetime.fromisoformat(row["_cxl_dlq_timestamp"]) for row in rows]
    assert all(time.utcoffset() == dt.timedelta(0) for time in times)
    assert abs(times[0] - dt.datetime.now(dt.UTC)) < dt.timedelta(minutes=1)
