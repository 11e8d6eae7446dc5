"""Dates as text: in which form and in which order of day and month they are written."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from clinker.cxl.run import strftime
from clinker.frozen import frozen

_DATES = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d-%m-%y",
    "%m-%d-%y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
_TIMES = ("%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p")
_DAY_OR_MONTH = re.compile(r"%[dm][./-]%[dm]")
_SHAPES = {
    "%Y": r"[0-9]{4}",
    "%y": r"[0-9]{2}",
    "%m": r"[0-9]{1,2}",
    "%d": r"[0-9]{1,2}",
    "%H": r"[0-9]{1,2}",
    "%I": r"[0-9]{1,2}",
    "%M": r"[0-9]{2}",
    "%S": r"[0-9]{2}",
    "%p": r"[AaPp][Mm]",
    "%b": r"[A-Za-z]{3}",
    "%B": r"[A-Za-z]{3,9}",
}
_ISO_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?"
    r"(Z|[+-][0-9]{2}:?[0-9]{2})?"
)


@frozen
class DateForm:
    """A form in which dates are written; without a pattern it is ISO 8601."""

    type: str
    pattern: str | None

    def read(self, text: str) -> dt.date | None:
        """The date that a text says in this form, None if it is none."""
        if self.pattern is None:
            return strftime.parse_iso_datetime(text) if _ISO_MOMENT.fullmatch(text) else None
        if not _shape(self.pattern).fullmatch(text):
            return None
        compiled = strftime.compile_pattern(self.pattern)
        parse = strftime.parse_date if self.type == "date" else strftime.parse_datetime
        return parse(text, compiled)

    @property
    def is_iso(self) -> bool:
        return self.pattern in (None, _DATES[0])

    @property
    def order(self) -> str:
        """Which of day and month comes first, where only numbers tell."""
        found = _DAY_OR_MONTH.search(self.pattern or "")
        return found[0][:2] if found else ""


@frozen
class DateForms:
    """The forms that all of some texts have."""

    fitting: tuple[DateForm, ...]

    @property
    def is_ambiguous(self) -> bool:
        """Whether day and month might be exchanged."""
        return len({form.order for form in self.fitting}) > 1


def find_forms(texts: Iterable[str]) -> DateForms:
    """The forms in which all of these can be dates."""
    forms: Sequence[DateForm] = _forms()
    for text in texts:
        forms = [form for form in forms if form.read(text) is not None]
        if not forms:
            break
    return DateForms(tuple(forms))


def looks_like_date(text: str) -> bool:
    return bool(find_forms([text]).fitting)


@cache
def _forms() -> tuple[DateForm, ...]:
    return tuple(_every_form())


def _every_form() -> Iterator[DateForm]:
    for pattern in _DATES:
        yield DateForm("date", pattern)
    yield DateForm("date_time", None)
    for pattern in _DATES:
        for time in _TIMES:
            yield DateForm("date_time", f"{pattern} {time}")


@cache
def _shape(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(%[A-Za-z])", pattern)
    return re.compile("".join(_SHAPES.get(part) or re.escape(part) for part in parts))
