"""Methods on text. Positions and lengths count characters, never bytes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from clinker.cxl.builtins.declare import LiteralProblem, Param, method
from clinker.cxl.failure import Failure, FailureKind, shown
from clinker.cxl.run import patterns, strftime
from clinker.cxl.run.date_names import ENGLISH, DateNames
from clinker.cxl.run.number_format import (
    SpecError,
    compile_spec,
    format_number,
    format_text,
)
from clinker.cxl.run.pattern_parser import PatternError
from clinker.cxl.sql import strftime as strftime_sql
from clinker.cxl.sql.number_format import aligned_sql, number_sql
from clinker.cxl.sql.operand import NotNative, Operand, Sql, SqlCall, SqlForm
from clinker.cxl.sql.text import text_literal
from clinker.cxl.sql.text_form import joined_sql, text_form_sql
from clinker.cxl.types import ANY, ARRAY, BOOL, INT, NUMERIC, STRING, Kind, Type, array_of
from clinker.cxl.values import Value, kind_name, kind_of, text_of

MAX_TEXT_BYTES = 10_485_760

# Unicode's White_Space. Python's own strip also takes the separators U+001C to U+001F.
_WHITE_SPACE = (
    "\t\n\v\f\r \u0085\u00a0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_WHITE_SPACE_SQL = "".join(f"\\u{ord(blank):04x}" for blank in _WHITE_SPACE)

# Small letters and their capitals that Unicode 15 to 17 paired, so that the version of Python does
# not matter: first small letter, first capital, how many in a row.
_LATER_PAIRS = (
    *((0x019B, 0xA7DC, 1), (0x0264, 0xA7CB, 1), (0x1C8A, 0x1C89, 1), (0xA7CD, 0xA7CC, 1)),
    *((0xA7CF, 0xA7CE, 1), (0xA7D3, 0xA7D2, 1), (0xA7D5, 0xA7D4, 1), (0xA7DB, 0xA7DA, 1)),
    *((0x10D70, 0x10D50, 22), (0x16EBB, 0x16EA0, 25)),
)
_LATER_CAPITALS = {
    small + i: capital + i for small, capital, count in _LATER_PAIRS for i in range(count)
}
_LATER_SMALL_LETTERS = {capital: small for small, capital in _LATER_CAPITALS.items()}

# More than any text in Spark has, where positions must fit 32 bits.
_MOST_CHARACTERS = 2_147_483_646
_CHARACTERS_SQL = "regexp_extract_all({}, '(?s).', 0)"


# --- Case and blanks ---


@method("upper", STRING, STRING, sql="upper({self})")
def upper(text: str) -> str:
    """All letters as capitals.

    >>> "hello world".upper()
    "HELLO WORLD"
    >>> "Grüße".upper()
    "GRÜSSE"
    >>> "".upper()
    ""
    >>> null.upper()
    null
    """
    return text.upper() if text.isascii() else text.upper().translate(_LATER_CAPITALS)


@method("lower", STRING, STRING, sql="lower({self})")
def lower(text: str) -> str:
    """All letters as small letters.

    >>> "Hello World".lower()
    "hello world"
    >>> "ÉCOLE".lower()
    "école"
    """
    return text.lower() if text.isascii() else text.lower().translate(_LATER_SMALL_LETTERS)


def _trim_sql(side: str) -> str:
    return f"trim({side} '{_WHITE_SPACE_SQL}' FROM {{self}})"


@method("trim", STRING, STRING, sql=_trim_sql("BOTH"))
def trim(text: str) -> str:
    r"""The text without blanks, tabs and line breaks at both ends.

    >>> " hello ".trim()
    "hello"
    >>> "\t a b \r\n".trim()
    "a b"
    >>> "   ".trim()
    ""
    """
    return text.strip(_WHITE_SPACE)


@method("trim_start", STRING, STRING, sql=_trim_sql("LEADING"))
def trim_start(text: str) -> str:
    """The text without blanks, tabs and line breaks at its start.

    >>> " hello ".trim_start()
    "hello "
    """
    return text.lstrip(_WHITE_SPACE)


@method("trim_end", STRING, STRING, sql=_trim_sql("TRAILING"))
def trim_end(text: str) -> str:
    """The text without blanks, tabs and line breaks at its end.

    >>> " hello ".trim_end()
    " hello"
    """
    return text.rstrip(_WHITE_SPACE)


# --- Parts of a text ---


@method(
    "starts_with",
    STRING,
    BOOL,
    params=[Param("prefix", STRING)],
    sql="startswith({self}, {prefix})",
)
def starts_with(text: str, prefix: str) -> bool:
    """Whether the text starts with `prefix`. Every text starts with the empty one.

    >>> "hello world".starts_with("hello")
    true
    >>> "hello world".starts_with("Hello")
    false
    >>> "hello".starts_with("")
    true
    >>> "hello".starts_with(null)
    null
    """
    return text.startswith(prefix)


@method(
    "ends_with",
    STRING,
    BOOL,
    params=[Param("suffix", STRING)],
    sql="endswith({self}, {suffix})",
)
def ends_with(text: str, suffix: str) -> bool:
    """Whether the text ends with `suffix`. Every text ends with the empty one.

    >>> "report.csv".ends_with(".csv")
    true
    >>> "report.csv".ends_with(".CSV")
    false
    >>> "report.csv".ends_with("")
    true
    """
    return text.endswith(suffix)


@method(
    "contains",
    STRING,
    BOOL,
    params=[Param("substring", STRING)],
    sql="contains({self}, {substring})",
)
def contains(text: str, substring: str) -> bool:
    """Whether `substring`, taken literally, occurs in the text.

    >>> "hello world".contains("lo wo")
    true
    >>> "hello".contains("l+")
    false
    >>> "hello".contains("")
    true
    """
    return substring in text


def _required(call: SqlCall, name: str) -> Operand:
    """An argument that no call is without."""
    argument = call.arg(name)
    assert argument
    return argument


def _replace_sql(call: SqlCall) -> Sql:
    text = call.receiver.text
    find, replacement = _required(call, "find"), _required(call, "replacement")
    replaced = f"replace({text}, {find.text}, {replacement.text})"
    if find.is_literal and find.value:
        return Sql(replaced)
    characters = _CHARACTERS_SQL.format(text)
    around = f"array_join({characters}, {replacement.text})"
    ends = f"concat({replacement.text}, {around}, if({text} = '', '', {replacement.text}))"
    return Sql(f"if({find.text} = '', {ends}, {replaced})")


@method(
    "replace",
    STRING,
    STRING,
    params=[Param("find", STRING), Param("replacement", STRING)],
    sql=_replace_sql,
)
def replace(text: str, find: str, replacement: str) -> str:
    """Every occurrence of `find`, taken literally, replaced. The empty text occurs around every
    character.

    >>> "foo-bar-baz".replace("-", "_")
    "foo_bar_baz"
    >>> "aaa".replace("aa", "b")
    "ba"
    >>> "a.b".replace(".", "$1")
    "a$1b"
    >>> "abc".replace("", "-")
    "-a-b-c-"
    >>> "abc".replace("b", null)
    null
    """
    return text.replace(find, replacement)


def _count_sql(count: str, most: str = f"{_MOST_CHARACTERS}L") -> str:
    """A number of characters as Spark takes it; a negative one counts as 0."""
    within = f"CASE WHEN {count} < 0L THEN 0L WHEN {count} > {most} THEN {most} ELSE {count} END"
    return f"CAST({within} AS INT)"


def _substring_sql(call: SqlCall) -> Sql:
    text, start, length = call.receiver.text, _required(call, "start"), call.arg("length")
    position = f"{_count_sql(start.text)} + 1"
    rest = f"substr({text}, {position})"
    if length is None:
        return Sql(rest)
    part = f"substr({text}, {position}, {_count_sql(length.text)})"
    return Sql(f"if({length.text} >= 0L, {part}, {rest})")


@method(
    "substring",
    STRING,
    STRING,
    params=[Param("start", INT), Param("length", INT, optional=True)],
    sql=_substring_sql,
)
def substring(text: str, start: int, length: int | None = None) -> str:
    """The part of the text from `start`, counted from 0, to its end or at most `length` characters
    long. A negative `start` counts as 0, a negative `length` as not given.

    >>> "hello world".substring(6)
    "world"
    >>> "hello world".substring(0, 5)
    "hello"
    >>> "hello".substring(3, 10)
    "lo"
    >>> "hello".substring(9)
    ""
    >>> "hello".substring(-3, 2)
    "he"
    >>> "hello".substring(1, -1)
    "ello"
    >>> "hello".substring(1, 0)
    ""
    >>> "hello".substring(1, null)
    "ello"
    """
    start = max(start, 0)
    return text[start:] if length is None or length < 0 else text[start : start + length]


@method(
    "left",
    STRING,
    STRING.nullable(),
    params=[Param("n", INT)],
    sql="if({n} < 0L, NULL, left({self}, " + _count_sql("{n}") + "))",
)
def left(text: str, n: int) -> str | None:
    """The first `n` characters; null when `n` is negative.

    >>> "hello world".left(5)
    "hello"
    >>> "hi".left(5)
    "hi"
    >>> "hi".left(0)
    ""
    >>> "hi".left(-1)
    null
    """
    return text[:n] if n >= 0 else None


@method(
    "right",
    STRING,
    STRING.nullable(),
    params=[Param("n", INT)],
    sql="if({n} < 0L, NULL, right({self}, " + _count_sql("{n}") + "))",
)
def right(text: str, n: int) -> str | None:
    """The last `n` characters; null when `n` is negative.

    >>> "hello world".right(5)
    "world"
    >>> "hi".right(5)
    "hi"
    >>> "hi".right(0)
    ""
    >>> "hi".right(-1)
    null
    """
    return text[max(len(text) - n, 0) :] if n >= 0 else None


# --- Building texts ---


def _within_limit(size: int) -> None:
    if size > MAX_TEXT_BYTES:
        detail = f"text of {size} bytes exceeds the limit of {MAX_TEXT_BYTES}"
        raise Failure(FailureKind.STRING_TOO_LARGE, detail)


def _padding(text: str, width: int, char: str) -> str:
    """What `text` lacks to be `width` characters long."""
    missing = width - len(text)
    if missing <= 0:
        return ""
    pad = char[:1] or " "
    _within_limit(len(text.encode()) + missing * len(pad.encode()))
    return pad * missing


_PADDING = [Param("width", INT), Param("char", STRING, optional=True)]
_TOO_LARGE = [FailureKind.STRING_TOO_LARGE]


def _pad_sql(function: str) -> SqlForm:
    def form(call: SqlCall) -> Sql:
        text, width, fill = call.receiver.text, _required(call, "width").text, call.arg("char")
        char = "' '"
        if fill:
            char = call.bind(f"coalesce(nullif(left({fill.text}, 1), ''), ' ')")
        room = f"({MAX_TEXT_BYTES}L - octet_length({text})) DIV octet_length({char})"
        too_large = call.bind(f"({width} > length({text}) AND {width} - length({text}) > {room})")
        # Spark computes what is constant ahead of time, also what no record is to get.
        padded = f"{function}({text}, {_count_sql(width, f'{MAX_TEXT_BYTES}L')}, {char})"
        value = (
            f"CASE WHEN {width} < 0L OR {too_large} THEN NULL"
            f" WHEN {width} <= length({text}) THEN {text} ELSE {padded} END"
        )
        return Sql(value, too_large)

    return form


@method(
    "pad_left",
    STRING,
    STRING.nullable(),
    params=_PADDING,
    fails=_TOO_LARGE,
    sql=_pad_sql("lpad"),
)
def pad_left(text: str, width: int, char: str = " ") -> str | None:
    """The text, lengthened to `width` characters by putting blanks, or the first character of
    `char`, before it. A longer text stays as it is; a negative `width` gives null.

    >>> "42".pad_left(5, "0")
    "00042"
    >>> "hi".pad_left(6)
    "    hi"
    >>> "hello".pad_left(3)
    "hello"
    >>> "42".pad_left(5, "xy")
    "xxx42"
    >>> "42".pad_left(4, "")
    "  42"
    >>> "é".pad_left(3, "ß")
    "ßßé"
    >>> "42".pad_left(-1)
    null
    >>> "".pad_left(10485761)
    error: text of 10485761 bytes exceeds the limit of 10485760
    """
    return _padding(text, width, char) + text if width >= 0 else None


@method(
    "pad_right",
    STRING,
    STRING.nullable(),
    params=_PADDING,
    fails=_TOO_LARGE,
    sql=_pad_sql("rpad"),
)
def pad_right(text: str, width: int, char: str = " ") -> str | None:
    """The text, lengthened to `width` characters by putting blanks, or the first character of
    `char`, behind it. A longer text stays as it is; a negative `width` gives null.

    >>> "hi".pad_right(6, ".")
    "hi...."
    >>> "hi".pad_right(4)
    "hi  "
    >>> "hello".pad_right(3, ".")
    "hello"
    >>> "hi".pad_right(-1)
    null
    """
    return text + _padding(text, width, char) if width >= 0 else None


_MOST_REPEATS_SQL = f"({MAX_TEXT_BYTES}L DIV greatest(octet_length({{self}}), 1))"
_REPEATS_TOO_LARGE_SQL = f"({{self}} != '' AND {{n}} > {_MOST_REPEATS_SQL})"
_REPEATED_SQL = f"repeat({{self}}, {_count_sql('{n}', _MOST_REPEATS_SQL)})"


@method(
    "repeat",
    STRING,
    STRING.nullable(),
    params=[Param("n", INT)],
    fails=_TOO_LARGE,
    sql=(
        f"if({{n}} < 0L OR {_REPEATS_TOO_LARGE_SQL}, NULL, {_REPEATED_SQL})",
        _REPEATS_TOO_LARGE_SQL,
    ),
)
def repeat(text: str, n: int) -> str | None:
    """The text `n` times in a row; null when `n` is negative.

    >>> "ab".repeat(3)
    "ababab"
    >>> "ab".repeat(0)
    ""
    >>> "ab".repeat(-1)
    null
    >>> "ab".repeat(6000000)
    error: text of 12000000 bytes exceeds the limit of 10485760
    """
    if n < 0:
        return None
    _within_limit(len(text.encode()) * n)
    return text * n if text else ""


@method("reverse", STRING, STRING, sql="reverse({self})")
def reverse(text: str) -> str:
    """The characters from last to first.

    >>> "hello".reverse()
    "olleh"
    >>> "añ😀".reverse()
    "😀ña"
    """
    return text[::-1]


def _length_sql(call: SqlCall) -> Sql:
    function = "array_size" if call.receiver.type.only(Kind.ARRAY) else "length"
    return Sql(f"CAST({function}({call.receiver.text}) AS BIGINT)")


@method("length", STRING | ARRAY, INT, sql=_length_sql)
def length(value: str | list[Value]) -> int:
    """The number of characters of a text, or of elements of an array.

    >>> "hello".length()
    5
    >>> "".length()
    0
    >>> "né😀".length()
    3
    >>> ["a", null, "c"].length()
    3
    >>> null.trim().upper().length()
    null
    """
    return len(value)


# --- Texts and arrays ---


def _split_sql(call: SqlCall) -> Sql:
    text, delimiter = call.receiver.text, _required(call, "delimiter")
    characters = f"concat(array(''), {_CHARACTERS_SQL.format(text)}, array(''))"
    if isinstance(delimiter.value, str):
        if not delimiter.value:
            return Sql(characters)
        return Sql(f"split({text}, {text_literal(patterns.literal(delimiter.value))}, -1)")
    quoted = rf"concat(r'\Q', replace({delimiter.text}, r'\E', r'\E\\E\Q'), r'\E')"
    return Sql(f"if({delimiter.text} = '', {characters}, split({text}, {quoted}, -1))")


@method("split", STRING, array_of(STRING), params=[Param("delimiter", STRING)], sql=_split_sql)
def split(text: str, delimiter: str) -> list[str]:
    """The parts between the delimiters, which are taken literally. The empty delimiter stands
    around every character.

    >>> "a,b,c".split(",")
    ["a", "b", "c"]
    >>> "a,,b,".split(",")
    ["a", "", "b", ""]
    >>> "abc".split(",")
    ["abc"]
    >>> "".split(",")
    [""]
    >>> "a||b".split("||")
    ["a", "b"]
    >>> "abc".split("")
    ["", "a", "b", "c", ""]
    """
    return text.split(delimiter) if delimiter else ["", *text, ""]


def _join_sql(call: SqlCall) -> Sql:
    values = call.receiver
    return Sql(joined_sql(values.text, values.type.element_type, _required(call, "delimiter").text))


@method("join", ARRAY, STRING, params=[Param("delimiter", STRING)], sql=_join_sql)
def join(values: list[Value], delimiter: str) -> str:
    """The text forms of all elements, with the delimiter between them. Null shows as nothing.

    >>> "a,b,c".split(",").join(" - ")
    "a - b - c"
    >>> [1, 2.0, true, null, #2024-03-15#].join("|")
    "1|2|true||2024-03-15"
    >>> [].join(",")
    ""
    >>> ["a", "b"].join("")
    "ab"
    """
    return delimiter.join(map(text_of, values))


def _concat_sql(call: SqlCall) -> Sql:
    texts = [
        f"coalesce({text_form_sql(arg.text, arg.type)}, '')"
        for arg in call.args()
        if not arg.type.is_null
    ]
    return Sql(f"concat({', '.join([call.receiver.text, *texts])})")


@method(
    "concat",
    STRING,
    STRING,
    params=[Param("args", ANY, takes_null=True, variadic=True)],
    sql=_concat_sql,
    sql_takes_tagged=True,
)
def concat(text: str, *args: Value) -> str:
    """The text followed by the text forms of all arguments. A null argument adds nothing.

    >>> "hello".concat(" ", "world")
    "hello world"
    >>> "a".concat("b", "c", "d")
    "abcd"
    >>> "a".concat(null, "b")
    "ab"
    >>> "n = ".concat(1, ", x = ", 2.0)
    "n = 1, x = 2"
    >>> null.concat("b")
    null
    """
    return text + "".join(map(text_of, args))


# --- Regular expressions ---


def _check_pattern(pattern: str, _: Type) -> None:
    try:
        patterns.compile_pattern(pattern)
    except PatternError as problem:
        raise LiteralProblem(str(problem), problem.offset) from None


def _compiled(pattern: str) -> patterns.Pattern:
    try:
        return patterns.compile_pattern(pattern)
    except PatternError as problem:
        detail = f"invalid pattern '{shown(pattern)}': {problem}"
        raise Failure(FailureKind.INVALID_PATTERN, detail, pattern) from None


@contextmanager
def _in_time(pattern: str, text: str) -> Iterator[None]:
    try:
        yield
    except patterns.TooSlow as problem:
        detail = f"pattern '{shown(pattern)}' {problem}"
        raise Failure(FailureKind.SLOW_PATTERN, detail, text) from None


def _slow(pattern: str, *, whole: bool) -> Iterator[FailureKind]:
    try:
        if patterns.compile_pattern(pattern).may_be_slow(whole=whole):
            yield FailureKind.SLOW_PATTERN
    except PatternError:  # which is reported where it is checked
        return


_WHOLE = Param("pattern", STRING, check=_check_pattern, fails_even_for=partial(_slow, whole=True))
_PART = Param("pattern", STRING, check=_check_pattern, fails_even_for=partial(_slow, whole=False))
_PATTERN_FAILS = [FailureKind.INVALID_PATTERN, FailureKind.SLOW_PATTERN]


def _literal_pattern(call: SqlCall, *, whole: bool) -> patterns.Pattern:
    argument = _required(call, "pattern")
    if not isinstance(argument.value, str):
        raise NotNative
    pattern = patterns.compile_pattern(argument.value)
    if not pattern.is_fit_for_java(whole=whole):
        raise NotNative
    return pattern


def _limited(call: SqlCall, limit: int | None) -> Sql:
    """The text a pattern is tried on: none of more characters than it takes in time."""
    text = call.receiver.text
    if limit is None:
        return Sql(text)
    is_longer = f"length({text}) > {limit}"
    return Sql(call.bind(f"if({is_longer}, NULL, {text})"), is_longer)


def _matches_sql(call: SqlCall) -> Sql:
    pattern = _literal_pattern(call, whole=True)
    text = _limited(call, pattern.limit(whole=True))
    return Sql(f"{text.text} RLIKE {text_literal(patterns.anchored(pattern))}", text.fails)


def _find_sql(call: SqlCall) -> Sql:
    pattern = _literal_pattern(call, whole=False)
    text = _limited(call, pattern.limit(whole=False))
    return Sql(f"{text.text} RLIKE {text_literal(pattern.text)}", text.fails)


@method("matches", STRING, BOOL, params=[_WHOLE], fails=_PATTERN_FAILS, sql=_matches_sql)
def matches(text: str, pattern: str) -> bool:
    """Whether the whole text matches a regular expression. Use `find` to look inside the text.

    >>> "abc123".matches("^[a-z]+[0-9]+$")
    true
    >>> "abc123".matches("[a-z]+[0-9]+")
    true
    >>> "abc123".matches("[0-9]+")
    false
    >>> "ab".matches("a|ab")
    true
    >>> "".matches("[a-z]*")
    true
    >>> "abc".matches("(".concat("abc"))
    error: invalid pattern '(abc': group '(' is not closed
    """
    with _in_time(pattern, text):
        return patterns.full_match(_compiled(pattern), text)


@method("find", STRING, BOOL, params=[_PART], fails=_PATTERN_FAILS, sql=_find_sql)
def find(text: str, pattern: str) -> bool:
    """Whether some part of the text matches a regular expression.

    >>> "hello world 42".find("[0-9]+")
    true
    >>> "hello world".find("^world")
    false
    >>> "HELLO".find("(?i)ell")
    true
    >>> "".find("[0-9]")
    false
    """
    with _in_time(pattern, text):
        return patterns.search(_compiled(pattern), text)


def _group_sql(call: SqlCall, text: str, pattern: patterns.Pattern, group: int) -> str:
    """What a group holds. Spark gives the empty text also where there is nothing."""
    held = call.bind(f"regexp_extract({text}, {text_literal(pattern.text)}, {group})")
    is_there = f"{text} RLIKE {text_literal(patterns.empty_group(pattern, group))}"
    return f"if({held} = '', if({is_there}, '', NULL), {held})"


def _capture_sql(call: SqlCall) -> Sql:
    pattern, group = _literal_pattern(call, whole=False), call.arg("group")
    limited = _limited(call, pattern.limit(whole=False))
    if group is None:
        return Sql(_group_sql(call, limited.text, pattern, 0), limited.fails)
    groups = range(pattern.groups + 1)
    if isinstance(group.value, int):
        if group.value not in groups:
            return Sql("NULL")
        return Sql(_group_sql(call, limited.text, pattern, group.value), limited.fails)
    number = f"coalesce({group.text}, 0L)"
    cases = (f"WHEN {n} THEN {_group_sql(call, limited.text, pattern, n)}" for n in groups)
    fails = f"{limited.fails} AND {number} BETWEEN 0 AND {pattern.groups}"
    return Sql(f"CASE {number} {' '.join(cases)} END", fails if limited.fails else None)


@method(
    "capture",
    STRING,
    STRING.nullable(),
    params=[_PART, Param("group", INT, optional=True)],
    fails=_PATTERN_FAILS,
    sql=_capture_sql,
)
def capture(text: str, pattern: str, group: int = 0) -> str | None:
    """What a group holds in the first match of a regular expression; group 0 is the whole match.
    Null without a match, and where the group does not exist or took no part.

    >>> "order-12345".capture("order-([0-9]+)", 1)
    "12345"
    >>> "order-12345, order-678".capture("order-([0-9]+)")
    "order-12345"
    >>> "invoice".capture("order-([0-9]+)", 1)
    null
    >>> "b".capture("(a)|(b)", 1)
    null
    >>> "order-1".capture("order-([0-9]+)", 2)
    null
    >>> "order-1".capture("order-([0-9]+)", -1)
    null
    """
    compiled = _compiled(pattern)
    with _in_time(pattern, text):
        return patterns.capture(compiled, text, group) if group >= 0 else None


# --- Formats ---


def _format_sql(call: SqlCall) -> Sql:
    value, fmt = call.receiver, _required(call, "format").value
    if not isinstance(fmt, str):
        raise NotNative
    if not fmt:
        return Sql(text_form_sql(value.text, value.type))
    kind = value.type.kinds & ~Kind.NULL
    try:
        _check_kind(fmt, kind)
    except (SpecError, strftime.PatternError):
        return Sql("NULL", f"{value.text} IS NOT NULL")
    if kind in Kind.DATE | Kind.DATETIME:
        return Sql(strftime_sql.format_sql(value.text, strftime.compile_pattern(fmt, call.names)))
    spec = compile_spec(fmt, kind)
    if kind in NUMERIC.kinds:
        return Sql(number_sql(value.text, kind, spec, call.bind))
    return Sql(aligned_sql(call.bind(text_form_sql(value.text, value.type)), spec))


def _check_kind(fmt: str, kind: Kind) -> None:
    if kind in Kind.DATE | Kind.DATETIME:
        strftime.check_format(fmt, has_time=kind is Kind.DATETIME)
    else:
        compile_spec(fmt, kind)


def _check_format(fmt: str, receiver: Type) -> None:
    """Refuse a format that suits none of the kinds the receiver may be of."""
    problems = []
    for kind in receiver.kinds & ~Kind.NULL if fmt else ():
        try:
            _check_kind(fmt, kind)
        except (SpecError, strftime.PatternError) as problem:
            problems.append(problem)
        else:
            return
    if problems:
        raise LiteralProblem(str(problems[0]), problems[0].offset)


@method(
    "format",
    ANY,
    STRING,
    params=[Param("format", STRING, check=_check_format)],
    fails=[FailureKind.INVALID_FORMAT],
    sql=_format_sql,
    takes_names=True,
)
def formatted(value: Value, fmt: str, names: DateNames = ENGLISH) -> str:
    """The value as text in a given format; the empty format is the text form. Dates take strftime
    formats; numbers `[[fill]align][sign][0][width][grouping][.precision][type]` with `,` or `_`
    as grouping and the types d, f, e and %; other values an alignment (<, ^ or >) and a width.

    >>> 42.format("")
    "42"
    >>> 1234567.891.format(",.2f")
    "1,234,567.89"
    >>> 42.format("05d")
    "00042"
    >>> 0.256.format(".1%")
    "25.6%"
    >>> 1234567.format("+,d")
    "+1,234,567"
    >>> (-5).format(".2f")
    "-5.00"
    >>> 12345.678.format(".3e")
    "1.235e+04"
    >>> 2.5.format(".0f")
    "2"
    >>> 1234.5.format("*>10_")
    "***1_234.5"
    >>> #2024-03-15#.format("%d.%m.%Y")
    "15.03.2024"
    >>> "2024-03-15T14:30:00".to_datetime().format("%H:%M")
    "14:30"
    >>> "hi".format("^6")
    "  hi  "
    >>> true.format(">6")
    "  true"
    >>> [1, null, "a"].format("")
    "[1, , a]"
    >>> null.format("05d")
    null
    >>> 1.5.format("d".concat(""))
    error: invalid format 'd' for Float: type 'd' is for Ints; a Float takes f, e or %
    """
    if not fmt:
        return text_of(value)
    try:
        match value:
            case dt.date():
                return strftime.format_value(value, strftime.compile_pattern(fmt, names))
            case int() | float() if not isinstance(value, bool):
                return format_number(value, compile_spec(fmt, kind_of(value)))
            case _:
                return format_text(text_of(value), compile_spec(fmt, kind_of(value)))
    except (SpecError, strftime.PatternError) as problem:
        detail = f"invalid format '{fmt}' for {kind_name(value)}: {problem}"
        raise Failure(FailureKind.INVALID_FORMAT, detail, fmt) from None
