"""Files looked at, and a pipeline proposed that reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from clinker.file_names import split_name
from clinker.formats.common.read_spec import FormatError
from clinker.frozen import frozen
from clinker.infer.columns import agree_on_dates, judge_columns
from clinker.infer.delimited import find_delimiter, guess_delimited
from clinker.infer.evidence import Column
from clinker.infer.fixed import guess_fixed, looks_fixed
from clinker.infer.guess import Guess
from clinker.infer.json import guess_json
from clinker.infer.pipeline import InferredSource, is_declarable, pipeline_text
from clinker.infer.reading import Records, read_records
from clinker.infer.sample import Sample, take_sample
from clinker.infer.text import Text, decode
from clinker.infer.typed import EXTENSIONS, MAGIC, Told, read_columns
from clinker.infer.xml import guess_xml
from clinker.stores.urls import parse_url

FORMATS = ("csv", "json", "xml", "fixed_width", "parquet")
"""The formats whose columns differ from file to file, as pipeline files name them."""
_EDI = {"x12": "X12", "edifact": "EDIFACT"}
_EXTENSIONS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".psv": "csv",
    ".json": "json",
    ".ndjson": "json",
    ".jsonl": "json",
    ".xml": "xml",
    ".fwf": "fixed_width",
}
_LINES = (".ndjson", ".jsonl")
_STARTS = ((b"<", "xml"), (b"{", "json"), (b"[", "json"), (b"ISA", "x12"), (b"UN", "edifact"))
_EDIFACT = re.compile(rb"UN[AB][^A-Za-z0-9 ]")
_MOST_COLUMNS = 5_000
_NOT_IN_NAMES = re.compile(r"\W+", re.ASCII)


@frozen(kw_only=True)
class Inference:
    """A pipeline that reads some files."""

    text: str
    sources: Sequence[InferredSource]

    @property
    def doubts(self) -> list[str]:
        """What the user should look at."""
        found: list[str] = []
        for source in self.sources:
            found += (f"{source.path}: {doubt}" for doubt in source.doubts)
            found += (
                f"{source.path}: column '{column.name}': {column.doubt}"
                for column in source.columns
                if column.doubt
            )
        return found


@frozen(kw_only=True)
class _File:
    path: str
    sample: Sample
    guess: Guess
    records: Records
    facts: Sequence[str]
    told: Told | None = None
    """What the file says of its columns, if it does."""

    @property
    def columns(self) -> list[Column]:
        """The columns as far as the file tells by itself."""
        return list(self.told.columns) if self.told else judge_columns(self.guess, self.records)


def infer(
    paths: Sequence[str],
    base_dir: Path,
    *,
    records: int,
    format: str | None = None,
    name: str | None = None,
) -> Inference:
    """A pipeline in `base_dir` that reads these files; FormatError if one of them is unreadable."""
    files = [_look_at(path, records, format) for path in paths]
    judged = [(file.columns, file.records) for file in files]
    date_formats, agreed = agree_on_dates(judged)
    names = _names(paths, name)
    sources = [
        _source(file, columns, source_name, base_dir)
        for file, columns, source_name in zip(files, agreed, names, strict=True)
    ]
    return Inference(text=pipeline_text(names[0], sources, date_formats), sources=sources)


def _look_at(path: str, records: int, format: str | None) -> _File:
    sample = take_sample(path, records)
    facts: list[str] = []
    doubts: list[str] = []
    text = None
    format = format or _find_format(sample)
    if format == "parquet":
        return _ask(path, sample)
    if format in _EDI:
        message = f"is {_EDI[format]}, whose records have the same columns in every file"
        help = "a source of EDI is the same for all files: see `clinker init --example edi_orders`"
        raise FormatError(message, path, help)
    if format != "xml":
        text = decode(sample)
        format = format or ("fixed_width" if _is_fixed(text) else "csv")
        mark = " with a byte order mark" if text.has_mark else ""
        facts.append(f"{text.encoding.upper()}{mark}")
        doubts += [text.doubt] if text.doubt else []
    guess = _guess(sample, text, format)
    facts += guess.facts
    found = read_records(guess, path, records)
    if not any(map(is_declarable, found.names)):
        raise FormatError("has no records, so there are no columns to infer", path)
    if len(found.names) > _MOST_COLUMNS:
        message = f"has {len(found.names):,} columns, more than a pipeline file can declare"
        raise FormatError(message, path)
    is_all = found.is_all and sample.is_whole
    count = len(found.rows) + len(found.rejected)
    counted = "1 record" if count == 1 else f"{count:,} records"
    facts.append(f"{counted}, which is all" if is_all else f"the first {counted} looked at")
    return _File(
        path=path,
        sample=sample,
        guess=replace(guess, doubts=(*guess.doubts, *doubts, *found.warnings, *_lost(found))),
        records=found,
        facts=facts,
    )


def _ask(path: str, sample: Sample) -> _File:
    """A file that tells its columns itself."""
    told = read_columns(path)
    if not any(is_declarable(column.name) for column in told.columns):
        raise FormatError("has no columns that a schema can declare", path)
    nothing = Records(names=(), rows=(), rejected=(), is_all=False, warnings=())
    guess = Guess(format="parquet", content=b"", has_texts=False, doubts=told.unreadable)
    return _File(
        path=path, sample=sample, guess=guess, records=nothing, facts=told.facts, told=told
    )


def _lost(found: Records) -> list[str]:
    """What is to be said of records that no schema can save."""
    if not found.rejected:
        return []
    count = len(found.rejected)
    these = "1 record is" if count == 1 else f"{count:,} records are"
    return [f"{these} rejected by any schema: {found.rejected[0]}"]


def _find_format(sample: Sample) -> str | None:
    """The format that the name of a file tells, or its first bytes; None if neither does."""
    if sample.extension in EXTENSIONS or sample.content.startswith(MAGIC):
        return "parquet"
    if named := _EXTENSIONS.get(sample.extension):
        return named
    head = sample.content[:256].removeprefix(b"\xef\xbb\xbf").lstrip()
    for start, format in _STARTS:
        if head.startswith(start) and (format != "edifact" or _EDIFACT.match(head)):
            return format
    return None


def _is_fixed(text: Text) -> bool:
    return find_delimiter(text.content) is None and looks_fixed(text)


def _guess(sample: Sample, text: Text | None, format: str) -> Guess:
    if text is None:
        return guess_xml(sample)
    if format == "json":
        has_lines = sample.extension in _LINES
        return guess_json(text, sample.path, is_whole=sample.is_whole, has_lines=has_lines)
    if format == "fixed_width":
        return guess_fixed(sample, text)
    return guess_delimited(text, is_whole=sample.is_whole)


def _source(file: _File, columns: Sequence[Column], name: str, base_dir: Path) -> InferredSource:
    return InferredSource(
        name=name,
        path=_written(file.path, base_dir),
        guess=file.guess,
        columns=columns,
        facts=file.facts,
        doubts=file.guess.doubts,
        drops_others=file.told is not None and bool(file.told.unreadable),
    )


def _written(path: str, base_dir: Path) -> str:
    """A path as a pipeline in the base directory names it."""
    return path if parse_url(path) else PurePath(os.path.relpath(path, base_dir)).as_posix()


def _names(paths: Sequence[str], name: str | None) -> list[str]:
    """A name for the source of each file, no two of them alike."""
    names: list[str] = []
    for path in paths:
        stem = name or _NOT_IN_NAMES.sub("_", split_name(PurePath(path))[0]).strip("_")
        if not stem or stem[0].isdigit():
            stem = f"source_{stem}".rstrip("_")
        own, number = stem, 2
        while own in names:
            own, number = f"{stem}_{number}", number + 1
        names.append(own)
    return names


__all__ = ["FORMATS", "FormatError", "Inference", "infer"]
