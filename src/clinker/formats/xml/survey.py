"""XML files looked through before they are read: all of them checked, and where to cut them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from clinker.formats.common.json_numbers import Places
from clinker.formats.common.missing import describe_missing
from clinker.formats.common.read_spec import (
    WIDENED,
    FormatError,
    InputFile,
    Inventory,
    ReadSpec,
    Split,
    delivered_schema,
)
from clinker.formats.common.record_sizes import RecordSizes
from clinker.formats.files.local import open_file
from clinker.formats.xml.dialect import ANY_NAME, XmlDialect
from clinker.formats.xml.documents import (
    Encoding,
    WellFormedness,
    check_again,
    find_encoding,
    read_text,
    too_deep,
)
from clinker.formats.xml.records import ElementReader, make_unfolding
from clinker.formats.xml.scan import TooDeep, Unbalanced
from clinker.formats.xml.search import ElementSearch, Found
from clinker.formats.xml.sections import SectionSearch
from clinker.formats.xml.siblings import Siblings, find_siblings
from clinker.frozen import frozen
from clinker.xml_names import TEXT

BLOCK_BYTES = 1 << 18


@frozen
class XmlLayout:
    """What must be known of a file to read one of its splits."""

    encoding: Encoding
    opened: Mapping[int, tuple[bytes, ...]]
    """For each split, by where it starts, the tags of the elements around its first record."""


def take_inventory(
    spec: ReadSpec, dialect: XmlDialect, files: Sequence[InputFile], split_bytes: int
) -> Inventory:
    """Check the files, count their records, and cut large ones between these."""
    names = _NameSearch(spec, dialect)
    surveys = [_survey(spec, dialect, file, split_bytes, names) for file in files]
    return Inventory(
        schema=delivered_schema(spec, [WIDENED]),
        undeclared=(),
        layouts=tuple(survey.layout for survey in surveys),
        splits=tuple(split for survey in surveys for split in survey.splits),
        task_bytes=split_bytes,
        record_bytes=max((survey.record_bytes for survey in surveys), default=0),
        document_schema=spec.document_schema,
        documents=tuple(survey.document for survey in surveys),
        warnings=(*names.warnings(), *_find_empty(spec, dialect, files, surveys)),
    )


@frozen
class _Survey:
    """What is known of a file."""

    layout: XmlLayout
    splits: tuple[Split, ...]
    record_bytes: int
    document: Mapping[str, Any]


def _find_empty(
    spec: ReadSpec, dialect: XmlDialect, files: Sequence[InputFile], surveys: Sequence[_Survey]
) -> Iterator[str]:
    for file, survey in zip(files, surveys, strict=True):
        if not survey.splits:
            yield (
                f"source '{spec.source_name}': no element of {file.name} is at "
                f"'record_path: {dialect.record_path}', so it has no records"
            )


class _NameSearch:
    """Looks for declared columns that no file mentions.

    A name that occurs nowhere, not even in a text, is certainly missing; that takes no parsing.
    """

    def __init__(self, spec: ReadSpec, dialect: XmlDialect) -> None:
        self._source = spec.source_name
        last = {column.name: column.name.split(".")[-1] for column in spec.columns}
        self._sought = {
            name: step.removeprefix(dialect.attribute_prefix).encode()
            for name, step in last.items()
            if step != TEXT
        }
        self._looked = False

    def look(self, text: bytes) -> None:
        self._looked = True
        for name, mention in list(self._sought.items()):
            if mention in text:
                del self._sought[name]

    def warnings(self) -> Iterator[str]:
        if self._sought and self._looked:
            yield describe_missing(self._source, list(self._sought))


def _survey(
    spec: ReadSpec, dialect: XmlDialect, file: InputFile, split_bytes: int, names: _NameSearch
) -> _Survey:
    sections = SectionSearch(spec, dialect, file.path)
    with open_file(file.path) as stream:
        encoding = find_encoding(stream, file.path)
        cuts = _Cuts(file, encoding, split_bytes if encoding.is_utf8 else sys.maxsize)
        count = _Counting(spec, dialect)
        form = WellFormedness(file.path)
        search = ElementSearch(dialect.path, strips=dialect.strips, offset=encoding.start)
        is_balanced = True
        for text in read_text(stream, encoding, 0, file.size, file.path, BLOCK_BYTES):
            form.check(text)
            names.look(text)
            try:
                if not is_balanced:
                    continue
                if siblings := count.look_for_siblings(search, text):
                    sections.look_outside(siblings.outside)
                    cuts.add_siblings(siblings, search)
                    text = b""
                found = search.look(text)
                sections.look(found)
                cuts.add(found, count.rows(found))
            except TooDeep:
                raise too_deep(file.path) from None
            except Unbalanced:  # for the check to complain about
                is_balanced = False
        form.finish()
        if not form.is_sure:
            again = read_text(stream, encoding, 0, file.size, file.path, BLOCK_BYTES)
            check_again(again, file.path)
    if not is_balanced:
        raise FormatError("the tags of the document are not balanced", file.path)
    return _Survey(
        XmlLayout(encoding, cuts.opened),
        tuple(cuts.splits()),
        cuts.sizes.largest,
        sections.values(),
    )


class _Counting:
    """Tells how many records elements stand for."""

    def __init__(self, spec: ReadSpec, dialect: XmlDialect) -> None:
        unfold = make_unfolding([path for path in spec.array_paths if path.mode == "explode"])
        self._reader = ElementReader(dialect, unfold) if unfold else None
        path = dialect.path
        self._may_be_siblings = not (unfold or (path.is_anywhere and path.steps[-1] == ANY_NAME))
        self._may_be_nested = path.is_anywhere and dialect.strips
        """Whether elements with another prefix count that are inside of siblings."""

    def rows(self, found: Found) -> Places:
        if self._reader is None:
            return found.counts()
        return np.array([len(records) for records in self._reader.read(found)], np.int64)

    def look_for_siblings(self, search: ElementSearch, block: bytes) -> Siblings | None:
        """Elements at the beginning of the next block, if each is one record."""
        if not self._may_be_siblings:
            return None
        depth = len(search.opened)

        def find(text: bytes, start: int, name: bytes) -> Siblings | None:
            if self._may_be_nested and (b":" in name or b":" + name in text):
                return None
            return find_siblings(text, start, name, depth)

        return search.look_alike(block, find)


class _Cuts:
    """Cuts a file before the first record that begins behind every so many bytes."""

    def __init__(self, file: InputFile, encoding: Encoding, split_bytes: int) -> None:
        self._file = file
        self._encoding = encoding
        self._split_bytes = split_bytes
        self._target = 0
        self._starts: list[tuple[int, int, int]] = []
        """Where splits start, how many records are before, and where the last of these ends."""
        self._rows = 0
        self._end = 0
        self.opened: dict[int, tuple[bytes, ...]] = {}
        self.sizes = RecordSizes()

    def add(self, found: Found, rows: Places) -> None:
        """The next elements, and how many records each stands for."""
        if not len(found):
            self.sizes.add(found.end, 0)
            return
        self._cut(
            found.offset + found.starts,
            found.offset + found.ends,
            self._rows + np.cumsum(rows) - rows,
            lambda at: found.opened_before(int(found.first[at])),
        )
        self._rows += int(rows.sum())
        self._end = found.offset + int(found.ends[-1])
        self.sizes.add(found.end, max(1, int(rows.sum())))

    def add_siblings(self, siblings: Siblings, search: ElementSearch) -> None:
        """The next elements, which have been searched, each of them one record."""
        offset = search.offset - siblings.end
        if self._target < search.offset:
            self._cut(
                offset + siblings.starts,
                offset + siblings.ends,
                self._rows + np.arange(len(siblings)),
                lambda _: search.opened,
            )
        self._rows += len(siblings)
        self._end = search.offset
        self.sizes.add(siblings.end, len(siblings))

    def _cut(
        self,
        starts: Places,
        ends: Places,
        before: Places,
        opened_before: Callable[[int], Sequence[bytes]],
    ) -> None:
        """Cut before some elements, which have so many records before them."""
        for at in self._choose(starts):
            start = int(starts[at])
            end = int(ends[at - 1]) if at else self._end
            self._starts.append((start, int(before[at]), end))
            self.opened[start] = tuple(opened_before(at))

    def _choose(self, starts: Places) -> Iterator[int]:
        """The elements that begin a split."""
        at = int(np.searchsorted(starts, self._target))
        while at < len(starts):
            yield at
            self._target = int(starts[at]) + self._split_bytes
            at = int(np.searchsorted(starts, self._target))

    def splits(self) -> Iterator[Split]:
        if not self._starts:
            return
        ends = [*(end for _, _, end in self._starts[1:]), self._end]
        counts = [*(before for _, before, _ in self._starts[1:]), self._rows]
        for (start, before, _), end, count in zip(self._starts, ends, counts, strict=True):
            if not self._encoding.is_utf8:
                start, end = 0, self._file.size
            yield Split(self._file, start, end, before + 1, count - before)
