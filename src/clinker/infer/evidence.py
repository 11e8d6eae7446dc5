"""The type of a column, and what in the sample speaks for it.

A type is proposed only if every value of the sample converts to it and comes back as it was: what
begins with a zero or a plus is no number, and a date whose day might be its month stays a text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from clinker.cxl.failure import shown
from clinker.cxl.run import strftime
from clinker.cxl.types import SCHEMA_TYPES
from clinker.cxl.values import MAX_INT, MIN_INT
from clinker.formats.common.coercion import Coercion
from clinker.frozen import frozen
from clinker.infer.dates import DateForm, find_forms, looks_like_date

_INT = re.compile(r"-?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)?\.[0-9]+([eE][+-]?[0-9]+)?|-?(0|[1-9][0-9]*)\.")
_DIGITS = re.compile(r"[+-]?[0-9]+")
_COMMA = re.compile(r"-?[0-9]{1,3}(\.?[0-9]{3})*,[0-9]+")
_THOUSANDS = re.compile(r"-?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?")
_COMPACT = re.compile(r"(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])")
_WORDS = ({"true", "false"}, {"yes", "no"}, {"on", "off"})
_NEARLY = 0.5
"""What share of values has a type if the others are worth a word."""
_SHOWN, _FEW = 3, 6


@frozen(kw_only=True)
class Column:
    """A column as the schema should declare it, and why."""

    name: str
    type: str
    values: int
    empty: int
    evidence: str
    """What the values are, for people."""
    form: DateForm | None = None
    """How its dates are written."""
    remark: str | None = None
    """What the user may want to change, or must know."""
    doubt: str | None = None
    """The same, if it is worth a warning."""

    def as_text(self, doubt: str) -> Column:
        """The same as a column of texts, since something speaks against its type."""
        return Column(
            name=self.name,
            type="string",
            values=self.values,
            empty=self.empty,
            evidence=self.evidence,
            remark=doubt,
            doubt=doubt,
        )


def looks_like_value(text: str) -> bool:
    """Whether a text is a number, a date or a truth, and so hardly a name."""
    is_number = _DIGITS.fullmatch(text) or _FLOAT.fullmatch(text) or _COMMA.fullmatch(text)
    return bool(is_number) or text.lower() in ("true", "false") or looks_like_date(text)


def judge_texts(name: str, values: Sequence[Any]) -> Column:
    """A column of texts, of which the empty ones are null unless it is one of texts."""
    counts = Counter(value for value in values if value)
    empty = len(values) - counts.total()
    kind, form, remark, doubt = _type_of_texts(counts)
    return Column(
        name=name,
        type=kind,
        values=counts.total(),
        empty=empty,
        evidence=_describe(kind, form, counts),
        form=form,
        remark=remark,
        doubt=doubt,
    )


def judge_values(name: str, values: Sequence[Any]) -> Column:
    """A column of values that have types of their own, as in JSON."""
    present: list[Any] = [float(v) if isinstance(v, float) else v for v in values if v is not None]
    kinds = {type(value) for value in present}
    kind, form, remark, doubt = "string", None, None, None
    if kinds <= {str}:
        counts = Counter(value for value in present if value)
        kind, form, remark, doubt = _type_of_dates(counts) or ("string", None, None, None)
        evidence = _describe(kind, form, counts)
    elif kinds == {bool}:
        kind, evidence = "bool", _list_counts(Counter(str(v).lower() for v in present))
    elif kinds <= {int, float}:
        kind, evidence, remark = _judge_numbers(present)
    elif kinds == {list}:
        lengths = [len(value) for value in present]
        elements = _range(str(min(lengths)), str(max(lengths)))
        kind, evidence = "array", f"arrays, number of elements {elements}"
    elif kinds == {dict}:
        keys = list(dict.fromkeys(key for value in present for key in value))
        kind, evidence = "map", f"objects with the keys {_list(map(shown, keys))}"
    else:
        names = sorted({_KIND_NAMES.get(k, k.__name__) for k in kinds})
        kind, evidence = "any", f"values of several kinds: {', '.join(names)}"
    return Column(
        name=name,
        type=kind,
        values=len(present),
        empty=len(values) - len(present),
        evidence=evidence,
        form=form,
        remark=remark,
        doubt=doubt,
    )


_KIND_NAMES: Mapping[type, str] = {
    str: "texts",
    int: "numbers",
    float: "numbers",
    bool: "true and false",
    list: "arrays",
    dict: "objects",
}
_Judgement = tuple[str, DateForm | None, str | None, str | None]


def converts(texts: Iterable[str], column: Column, formats: Sequence[str]) -> bool:
    """Whether sources convert these texts to the type of a column, dates by these formats.

    A date must be the one that its own form says: another format may read it in another way.
    """
    every = list(texts)
    patterns = [strftime.compile_pattern(text) for text in formats]
    coerced = Coercion(SCHEMA_TYPES[column.type], patterns).column_from_text(pa.array(every))
    if coerced.unfit is not None:
        return False
    if column.form is None:
        return True
    read: list[object] = coerced.values.to_pylist()
    return read == [column.form.read(text) for text in every]


def _judge_numbers(values: Sequence[Any]) -> tuple[str, str, str | None]:
    evidence = _range(str(min(values)), str(max(values)))
    if any(isinstance(value, float) for value in values):
        return "float", evidence, None
    if min(values) < MIN_INT or max(values) > MAX_INT:
        return "string", evidence, "numbers of more than 64 bits stay texts"
    return "int", evidence, None


def _type_of_texts(counts: Counter[str]) -> _Judgement:
    if not counts:
        return "string", None, "no values in the sample", None
    for kind, test in _TESTS.items():
        if all(map(test, counts)):
            return kind, None, _remark_on(kind, counts), None
    if dates := _type_of_dates(counts):
        return dates
    return "string", None, _why_text(counts), None


def _is_int(text: str) -> bool:
    return bool(_INT.fullmatch(text)) and len(text) < 20 and MIN_INT <= int(text) <= MAX_INT


def _is_number(text: str) -> bool:
    return bool(_FLOAT.fullmatch(text)) or _is_int(text)


def _is_truth(text: str) -> bool:
    return any(text.lower() in words for words in _WORDS)


_TESTS: Mapping[str, Callable[[str], bool]] = {
    "int": _is_int,
    "float": _is_number,
    "bool": _is_truth,
}


def _remark_on(kind: str, counts: Counter[str]) -> str | None:
    if kind == "int" and all(map(_COMPACT.fullmatch, counts)):
        return "or dates: then 'type: date', and \"%Y%m%d\" under date_formats"
    if kind == "int" and set(counts) <= {"0", "1"}:
        return "or truths: then 'type: bool'"
    return None


def _type_of_dates(counts: Counter[str]) -> _Judgement | None:
    forms = find_forms(counts)
    if not (counts and forms.fitting):
        return None
    first = forms.fitting[0]
    if not forms.is_ambiguous:
        return first.type, first, None, None
    by_order = {form.order: form.pattern for form in reversed(forms.fitting)}
    patterns = " or ".join(f'"{pattern}"' for pattern in sorted(filter(None, by_order.values())))
    doubt = (
        f"dates, but day and month cannot be told apart: put {patterns} under "
        f"date_formats, and write 'type: {first.type}'"
    )
    return "string", None, doubt, doubt


def _why_text(counts: Counter[str]) -> str | None:
    """What to say of texts that are nearly something else."""
    if all(map(_DIGITS.fullmatch, counts)):
        odd = next(text for text in counts if not _is_int(text))
        why = "begins with a zero or a plus" if len(odd) < 20 else "has more than 64 bits"
        return f"digits, but '{shown(odd)}' {why}, which a number would lose"
    if all(_COMMA.fullmatch(text) or _DIGITS.fullmatch(text) for text in counts):
        return 'numbers with a decimal comma: in CXL, .replace(",", ".").to_float()'
    if all(_THOUSANDS.fullmatch(text) or _is_number(text) for text in counts):
        return 'numbers with commas between thousands: in CXL, .replace(",", "").to_float()'
    total = counts.total()
    for kind, test in (*_TESTS.items(), ("date", looks_like_date)):
        others = [text for text in counts if not test(text)]
        fitting = total - sum(counts[text] for text in others)
        if fitting >= _NEARLY * total:
            return f"{fitting:,} are of type {kind}, {_list(map(_quoted, others))} not"
    return None


def _describe(kind: str, form: DateForm | None, counts: Counter[str]) -> str:
    """What the values are, in a few words."""
    if not counts:
        return ""
    if kind in ("int", "float"):
        number = int if kind == "int" else float
        return _range(min(counts, key=number), max(counts, key=number))
    if form is not None:
        read = {form.read(text): text for text in counts}
        moments = sorted(filter(None, read))
        return _range(read[moments[0]], read[moments[-1]])
    if kind == "bool" or len(counts) <= _FEW < counts.total():
        return _list_counts(counts)
    return _list(map(_quoted, counts))


def _list_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{_quoted(text)} ({count:,})" for text, count in counts.most_common())


def _range(first: str, last: str) -> str:
    return shown(first) if first == last else f"{shown(first)} … {shown(last)}"


def _quoted(text: str) -> str:
    return f"'{shown(text)}'"


def _list(texts: Iterable[str]) -> str:
    every = list(texts)
    return ", ".join(every[:_SHOWN]) + (" …" if len(every) > _SHOWN else "")
