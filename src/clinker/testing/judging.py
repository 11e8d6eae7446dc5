"""What is otherwise than a case expects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal, TypeAlias

from clinker.config.case import Case, Expectation, Rejection
from clinker.formats.common.json_numbers import dumps
from clinker.formats.files.dead_letter_file import Entry
from clinker.frozen import frozen
from clinker.testing.attempt import Attempt

Record: TypeAlias = Mapping[str, Any]
Mark: TypeAlias = Literal[" ", "-", "+"]
"""What is as expected, what is missing, and what is there instead."""

_ENTRY_FIELDS = {
    "source": "source_name",
    "file": "source_file",
    "row": "source_row",
    "node": "node",
    "route": "route",
    "rule": "trigger",
    "category": "category",
    "detail": "detail",
    "field": "field",
    "value": "value",
}
"""What tests call the fields of dead-letter entries."""
_ALWAYS = ("node", "category", "row", "field", "detail")
"""What is shown of rejected records if the case names nothing."""


@frozen
class Line:
    """A record that is expected, found, or both."""

    mark: Mark
    record: Record


@frozen
class Difference:
    """Something that is otherwise than expected: in words, or record by record."""

    title: str
    columns: Sequence[str] = ()
    lines: Sequence[Line] = ()


def differences(case: Case, attempt: Attempt) -> list[Difference]:
    """All that is otherwise than a case expects; nothing if it passes."""
    expect = case.expect
    found: list[Difference] = []
    if attempt.exit_code != expect.code:
        found.append(_other_code(expect, attempt))
    elif expect.error is not None and not _mentions(attempt, expect.error):
        found.append(Difference(f"the error does not mention '{expect.error}': {attempt.message}"))
    if attempt.message:
        return found
    for outlet, expected in expect.records.items():
        columns = compared_columns(expected, attempt, outlet)
        actual = [_of(record, columns) for record in attempt.views[outlet].records()]
        wanted = [_of(record, columns) for record in expected]
        if not _are_equal(wanted, actual):
            title = f"{outlet}: {_count(len(wanted))} expected, {_count(len(actual))} found"
            found.append(Difference(title, columns, _aligned(wanted, actual)))
    if expect.rejected is not None:
        found += _rejections(expect.rejected, attempt.rejected)
    elif attempt.rejected and expect.code != attempt.exit_code:
        found += _rejections((), attempt.rejected)
    return found


def compared_columns(expected: Sequence[Record], attempt: Attempt, outlet: str) -> list[str]:
    """The fields that a case names, or all if it names none."""
    named = list(dict.fromkeys(name for record in expected for name in record))
    if named:
        return named
    view = attempt.views[outlet]
    return view.columns(list(view.records()))


def described(entry: Entry) -> Record:
    """A rejected record as tests describe it."""
    return {name: getattr(entry, field) for name, field in _ENTRY_FIELDS.items()}


def compared_facts(expected: Sequence[Rejection]) -> list[str]:
    """What a case says about rejected records."""
    named = {name for each in expected for name in each.facts}
    return [name for name in _ENTRY_FIELDS if name in named] or list(_ALWAYS)


def _rejections(expected: Sequence[Rejection], entries: Sequence[Entry]) -> list[Difference]:
    names = compared_facts(expected)
    wanted = [each.facts for each in expected]
    # What one of them does not name may be anything.
    compared = [*wanted, *(dict.fromkeys(names) for _ in entries[len(wanted) :])]
    actual = [
        _of(described(entry), list(keys)) for entry, keys in zip(entries, compared, strict=False)
    ]
    if _are_equal(wanted, actual):
        return []
    title = f"rejected: {_count(len(wanted))} expected, {_count(len(actual))} found"
    return [Difference(title, names, _aligned(wanted, actual))]


def _other_code(expect: Expectation, attempt: Attempt) -> Difference:
    reason = f": {attempt.message}" if attempt.message else ""
    title = f"the exit code is {int(attempt.exit_code)}, not {expect.code}{reason}"
    return Difference(title)


def _mentions(attempt: Attempt, text: str) -> bool:
    codes = (diagnostic.code for diagnostic in attempt.diagnostics)
    messages = (diagnostic.message for diagnostic in attempt.diagnostics)
    return text in codes or any(text in message for message in (attempt.message, *messages))


def _of(record: Record, names: Sequence[str]) -> Record:
    return {name: record.get(name) for name in names}


def _are_equal(expected: Sequence[Record], actual: Sequence[Record]) -> bool:
    return list(map(_key, expected)) == list(map(_key, actual))


def _key(record: Record) -> str:
    """A text that is the same for records that are: a whole number is one in every type."""
    return dumps(_plain(dict(record))).decode()


def _plain(value: Any) -> Any:
    match value:
        case float() if value.is_integer() and abs(value) < 2**53:
            return int(value)
        case float():
            return float(value)
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case list() | tuple():
            return [_plain(each) for each in value]
    return value


def _aligned(expected: Sequence[Record], actual: Sequence[Record]) -> list[Line]:
    """What is missing and what is there instead, in order, among what is as expected."""
    matcher = SequenceMatcher(
        None, list(map(_key, expected)), list(map(_key, actual)), autojunk=False
    )
    lines: list[Line] = []
    for operation, first, last, begin, end in matcher.get_opcodes():
        if operation == "equal":
            lines += (Line(" ", record) for record in actual[begin:end])
        else:
            lines += (Line("-", record) for record in expected[first:last])
            lines += (Line("+", record) for record in actual[begin:end])
    return lines


def _count(number: int) -> str:
    return "1 record" if number == 1 else f"{number:,} records"
