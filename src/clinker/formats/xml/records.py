"""Elements as records: texts, maps of what elements hold, and arrays of what they hold repeatedly.

An element without attributes and children is its text, without the blanks around it. Any other is a
map: of its attributes, its children, and its own text, if it has one, as `#text`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from lxml import etree

from clinker.cxl.types import Kind
from clinker.formats.common.read_spec import ArrayPath, Column, ReadSpec
from clinker.formats.common.unfolding import (
    Record,
    Unfolding,
    find,
    replace_at,
    split_path,
    unfold_array,
    unfold_in_turn,
)
from clinker.formats.xml.dialect import XmlDialect
from clinker.formats.xml.search import Found
from clinker.formats.xml.texts import BLANKS
from clinker.xml_names import TEXT

_NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"
_XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace"
_WHOLE = Kind.ARRAY | Kind.MAP
"""Kinds of columns that take all of an element; others take its text."""


class ElementReader:
    """Makes records of elements."""

    def __init__(self, dialect: XmlDialect, unfold: Unfolding | None = None) -> None:
        self._prefix = dialect.attribute_prefix
        self._strips = dialect.strips
        self._unfold = unfold
        self._parser = etree.XMLParser(
            encoding="utf-8",
            huge_tree=True,
            resolve_entities=False,
            no_network=True,
            remove_comments=True,
            remove_pis=True,
            collect_ids=False,
            # Prefixes that nobody declares are no reason to stop; all else has been checked.
            recover=True,
        )

    def read(self, found: Found) -> list[list[Record]]:
        """For each of the elements, the records that it stands for."""
        inner = found.inner_numbers()
        records = []
        for at, element in enumerate(self._elements(found)):
            some = [self._fields(element)]
            if at in inner:
                inside = list(element.iter())
                some += [self._fields(inside[number]) for number in inner[at]]
            if self._unfold:
                some = list(chain.from_iterable(map(self._unfold, some)))
            records.append(some)
        return records

    def _elements(self, found: Found) -> Iterator[etree._Element]:
        text, starts, ends = found.tags.text, found.starts.tolist(), found.ends.tolist()
        for run in found.runs():
            bounds = zip(starts[run.elements], ends[run.elements], strict=True)
            parts = (text[start:end] for start, end in bounds)
            whole = b"".join([b"<_>", run.opening, *parts, run.closing, b"</_>"])
            element = etree.fromstring(whole, self._parser)
            for _ in range(run.depth):
                element = element[0]
            yield from element

    def _fields(self, element: etree._Element) -> Record:
        fields: Record = {}
        for name, value in element.attrib.items():
            if name != _NIL:
                _add(fields, self._prefix + self._attribute_name(element, str(name)), str(value))
        texts = [element.text or ""]
        for child in element:
            _add(fields, self._name(child), self._value(child))
            texts.append(child.tail or "")
        if text := "".join(texts).strip(BLANKS):
            _add(fields, TEXT, text)
        return fields

    def _value(self, element: etree._Element) -> Any:
        if len(element) or element.attrib:
            fields = self._fields(element)
            if element.get(_NIL, "").strip() in ("true", "1"):
                return fields | {TEXT: None} if fields else None
            return fields or ""
        return (element.text or "").strip(BLANKS)

    def _name(self, element: etree._Element) -> str:
        name = _local_name(str(element.tag))
        if self._strips:
            return name.rpartition(":")[2]
        return f"{element.prefix}:{name}" if element.prefix else name

    def _attribute_name(self, element: etree._Element, name: str) -> str:
        local = _local_name(name)
        if self._strips:
            return local.rpartition(":")[2]
        if local == name:
            return name
        namespace = name[1 : -len(local) - 1]
        if namespace == _XML_NAMESPACE:
            return f"xml:{local}"
        prefixes = [p for p, uri in element.nsmap.items() if uri == namespace and p]
        if len(prefixes) == 1:
            return f"{prefixes[0]}:{local}"
        at = list(element.attrib).index(name) + 1
        return str(element.xpath(f"name(@*[{at}])"))


@lru_cache(1 << 12)
def _local_name(name: str) -> str:
    return name.rpartition("}")[2]


def _add(fields: Record, name: str, value: Any) -> None:
    """A field; what is there more than once is an array."""
    if name not in fields:
        fields[name] = value
        return
    before = fields[name]
    if isinstance(before, list):
        before.append(value)
    else:
        fields[name] = [before, value]


def make_unfolding(paths: Sequence[ArrayPath]) -> Unfolding | None:
    """For records that arrays stand for, be they of one element; None if nothing is unfolded."""
    return unfold_in_turn([step for path in paths for step in (_wrap(path), unfold_array(path))])


def _wrap(path: ArrayPath) -> Unfolding:
    steps = split_path(path.path)

    def wrap(record: Record) -> Sequence[Record]:
        value = find(record, steps)
        if value is None or isinstance(value, list):
            return (record,)
        return (replace_at(record, steps, ([value],)),)

    return wrap


# Columns


def take_text(value: Any) -> Any:
    """The text of an element; an array is left as it is."""
    return value.get(TEXT, "") if isinstance(value, dict) else value


def fit(value: Any, column: Column) -> Any:
    """What a column takes of the value at its path."""
    kinds = column.type.kinds & ~Kind.NULL
    if kinds == Kind.ARRAY:
        return value if value is None or isinstance(value, list) else [value]
    if kinds == Kind.MAP:
        return {TEXT: value} if isinstance(value, str) and value else value
    return value if kinds & _WHOLE else take_text(value)


class Fields:
    """Which fields of records are those of columns, and which are left."""

    def __init__(self, spec: ReadSpec) -> None:
        self._columns = [(column, tuple(column.name.split("."))) for column in spec.columns]
        self._tree = _Branch()
        for column, steps in self._columns:
            branch = self._tree
            for step in steps:
                branch = branch.inner.setdefault(step, _Branch())
            kinds = column.type.kinds & ~Kind.NULL
            branch.takes_all = bool(kinds & _WHOLE)
            branch.takes_text = True
        self._paths = [(column, steps) for column, steps in self._columns if len(steps) > 1]

    def values(self, records: Sequence[Record], column: Column) -> list[Any]:
        """What records have for a column."""
        steps = column.name.split(".")
        if len(steps) == 1:
            return [fit(record.get(column.name), column) for record in records]
        return [fit(_find(record, steps), column) for record in records]

    def undeclared(self, record: Record) -> Record:
        """What no column takes."""
        for column, _ in self._paths:
            if column.name in record:  # a name with dots counts before the path
                record = {key: value for key, value in record.items() if key != column.name}
        return _leave(record, self._tree)

    def all(self, record: Record) -> Record:
        """The fields by the names of their columns, and those that are left."""
        taken = {column.name: fit(_find(record, steps), column) for column, steps in self._columns}
        present = {name: value for name, value in taken.items() if value is not None}
        left = {k: v for k, v in self.undeclared(record).items() if k not in present}
        return present | left


class _Branch:
    """What columns take of an element and of the elements inside of it."""

    def __init__(self) -> None:
        self.takes_all = False
        self.takes_text = False
        self.inner: dict[str, _Branch] = {}


def _leave(record: Record, branch: _Branch) -> Record:
    """What remains of a record when that which columns take is taken away."""
    rest = {}
    for key, value in record.items():
        inner = branch.inner.get(key)
        if inner is None:
            if not (key == TEXT and branch.takes_text):
                rest[key] = value
        elif inner.takes_all or value is None:
            continue
        elif isinstance(value, dict):
            if left := _leave(value, inner):
                rest[key] = left
        elif not (inner.takes_text or (isinstance(value, str) and TEXT in inner.inner)):
            rest[key] = value
    return rest


def _find(record: Record, steps: Sequence[str]) -> Any:
    """The value at a path; of an element that is just a text that is its `#text` too."""
    value = find(record, steps)
    if value is None and steps[-1] == TEXT and len(steps) > 1:
        whole = find(record, steps[:-1])
        return whole if isinstance(whole, str) else None
    return value


def find_first_path(record: Record) -> str:
    """The path of a field of a record."""
    key, value = next(iter(record.items()))
    return f"{key}.{find_first_path(value)}" if isinstance(value, dict) and value else key
