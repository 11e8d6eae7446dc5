"""Conversions mean the same to Spark and to the interpreter, for texts that nearly convert, too."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import random

import pytest
from pyspark.sql import SparkSession

from clinker.cxl.run.locales import date_names
from clinker.cxl.types import ANY, DATETIME, FLOAT, INT, MAP, STRING, Type, array_of
from clinker.cxl.values import MAX_INT, MIN_INT, Value
from tests.engine.expressions.running import agree

NAN, INF = math.nan, math.inf
NUMBERS = [0, 1, -1, 2**53 + 1, MAX_INT, MIN_INT]
FLOATS = [
    *(
        0.0,
        -0.0,
        1.0,
        3.9,
        -3.9,
        0.1,
        1e-7,
        9.999e-4,
        0.001,
        1e7,
        9999999.5,
        12345678.9,
        1e16,
        1e21,
    ),
    *(
        2.0**53,
        2.0**53 + 2,
        9223372036854774784.0,
        2.0**63,
        -(2.0**63),
        1e22,
        1.7976931348623157e308,
    ),
    *(
        2.2250738585072014e-308,
        123456789012345680.0,
        5e-324,
        -5e-324,
        1e-322,
        1e-300,
        INF,
        -INF,
        NAN,
    ),
]
MOMENTS: list[Value] = [
    *(dt.date.min, dt.date(2024, 2, 29), dt.date.max, dt.datetime.min, dt.datetime.max),
    *(dt.datetime(2024, 2, 29, 7, 5), dt.datetime(2024, 2, 29, 7, 5, 3, 120_000)),
    *(dt.datetime(1969, 12, 31, 23, 59, 59, 1), dt.datetime(1, 1, 1, 0, 0, 0, 5000)),
]
NUMERIC_TEXTS = [
    *("", " ", "5", " 5", "5 ", "+5", "-5", "--5", "+-5", "5-", "-", "+", ".", "-007", "1_000"),
    *(
        "1,000",
        "1e5",
        "1E+5",
        "1e-5",
        "1e",
        "e5",
        "0x1F",
        "0x1p3",
        "5.",
        ".5",
        "-.5",
        "5.5.5",
        "42.0",
    ),
    *(
        "5d",
        "5f",
        "5L",
        "1e400",
        "-1e400",
        "1e-400",
        "0e99999999999",
        "1e99999999999",
        "5\n",
        "\t5",
    ),
    *(
        "inf",
        "+INF",
        "-inf",
        "Infinity",
        "-iNfInItY",
        "infinit",
        "nan",
        "NaN",
        "+nan",
        "-NAN",
        "nan(",
    ),
    *("٣", "\uff15", "²", "½", "1\u00a0000", "1\x00", "\ufeff1", "\u0131", "İnf"),
    *("null", "NULL", "None"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809"),
    *("0" * 500 + "9", "1" + "0" * 400, "9" * 19, "+" + "0" * 30 + "9223372036854775807"),
    *("0.1", "2.2250738585072011e-308", "9007199254740993", "9007199254740992.99999999999999999"),
    *(
        "true",
        "TRUE",
        "True",
        " true",
        "t",
        "yes",
        "Yes",
        "y",
        "no",
        "NO",
        "on",
        "off",
        "false",
        "fALSE",
    ),
]
CONTAINERS: list[Value] = [[], [1, "x", None, True], {}, {"k": 1.5}]


def test_conversions_of_texts(spark: SparkSession) -> None:
    texts = [f"x.{to}_{kind}()" for to in ("to", "try") for kind in ("int", "float", "bool")]
    agree(spark, texts, [{"x": text} for text in [*NUMERIC_TEXTS, None]])


def test_conversions_of_other_values(spark: SparkSession) -> None:
    kinds = ("int", "float", "bool", "date", "datetime")
    texts = [f"x.{to}_{kind}()" for to in ("to", "try") for kind in kinds]
    scalars: list[list[Value]] = [[*NUMBERS], [*FLOATS], [True, False], [*MOMENTS]]
    for values in [*scalars, *([container] for container in CONTAINERS)]:
        agree(spark, texts, [{"x": value} for value in values])
    mixed: list[Value] = [
        *NUMBERS,
        *FLOATS,
        True,
        False,
        *MOMENTS,
        *CONTAINERS,
        *NUMERIC_TEXTS[:5],
        None,
    ]
    agree(spark, texts, [{"x": value} for value in mixed], {"x": ANY})


# Text forms


@pytest.mark.parametrize(
    "values",
    [NUMBERS, FLOATS, [True, False], MOMENTS[:3], MOMENTS[3:], ["", "x", "'", "\\", "$1", "\0"]],
)
def test_text_forms(spark: SparkSession, values: list[Value]) -> None:
    agree(spark, "x.to_string()", [{"x": value} for value in [*values, None]])


def test_text_forms_of_any_floats(spark: SparkSession) -> None:
    bits = random.Random(3)
    floats = [bits.uniform(-10.0, 10.0) * 10.0 ** bits.randrange(-9, 19) for _ in range(3000)]
    floats += [float(f"{bits.randrange(1000)}e{bits.randrange(-20, 16)}") for _ in range(1000)]
    floats += [float(bits.randrange(2**53, 2**63)) for _ in range(1000)]
    agree(spark, "x.to_string()", [{"x": number} for number in floats])


_TEXTS: list[Value] = [
    *(
        "",
        "a,b",
        "[",
        "]",
        "{k: v}",
        'q"q',
        "b\\b",
        '\\"',
        "\\\\",
        "n\nt\tu\u2028e\u0001\x7f",
        "é😀",
    )
]
_MIXED: list[Value] = [1, "x", None, True]
_FLOATS: list[Value] = [2.0, 0.5, 1e22, 1e-7, NAN, INF, -INF, -0.0, MIN_INT, MAX_INT]
_MOMENTS: list[Value] = [[*MOMENTS], "@2024", "T", "true"]
NESTED: list[Value] = [
    [],
    {},
    [None],
    [[]],
    [{}],
    {"": ""},
    {"k": 1.5, "l": None},
    _MIXED,
    _TEXTS,
    _FLOATS,
    _MOMENTS,
    {'"': 1, "a:b": [1, [2, [3, {"x": {"y\n": [None, "null"]}}]]], "\\": "1.0", "@k": "Infinity"},
    {'k":': 'v":', ",": ",", "null": None, "1.0": 1.0, "deep": [[[[[[["x"]]]]]]]},
    ["x" * 100_000, "\n" * 20_000],
]


def test_text_forms_of_nested_values(spark: SparkSession) -> None:
    records = [
        {"x": value} for value in [*NESTED, *FLOATS, *MOMENTS, "text", '"', "[", True, 7, None]
    ]
    agree(spark, "x.to_string()", records, {"x": ANY})
    agree(spark, "x.to_string()", [r for r in records if isinstance(r["x"], dict)], {"x": MAP})
    arrays = [r for r in records if isinstance(r["x"], list)]
    agree(spark, "x.to_string()", arrays, {"x": Type(array_of(ANY).kinds)})


@pytest.mark.parametrize(
    ("element", "values"),
    [
        (INT, [1, None, -5]),
        (FLOAT, [1.0, None, 2.5, NAN]),
        (STRING, ["", None, "x, y"]),
        (DATETIME, [dt.datetime(2024, 2, 29, 7, 5, 3, 120_000), None]),
        (array_of(INT), [[1, 2], None, [], [None]]),
    ],
)
def test_text_forms_of_arrays_of_one_kind(
    spark: SparkSession, element: Type, values: list[Value]
) -> None:
    records: list[dict[str, Value]] = [{"x": values}, {"x": []}, {"x": [None]}, {"x": None}]
    agree(spark, "x.to_string()", records, {"x": array_of(element.nullable()).nullable()})


# Dates and times in texts

ISO_TEXTS = [
    *(
        "2024-03-15",
        "2024-3-5",
        " 2024 - 03 - 15 ",
        "+2024-03-15",
        "-2024-03-15",
        "2024-03-15 ",
        "",
    ),
    *("2023-02-29", "2024-02-29", "2024-13-01", "2024-00-10", "2024-04-31", "0001-01-01", "1-1-1"),
    *("9999-12-31", "+9999-12-31", "+10000-01-01", "0000-01-01", "+999999999-01-01", "20240315"),
    *(
        "2024-03-015",
        "٢٠٢٤-03-15",
        "2024-03-15x",
        "2024-03-15\n",
        "\u00a02024-03-15",
        "2024\u200303-15",
    ),
    *(
        "2024\x1c-03-15",
        "2024\x85-\u300003-15",
        "2024-03-15T14:30:00",
        "2024-03-15 14:30:00",
        "2024-02-30T00:00:00",
    ),
    *("2024-03-15T25:00:00", "2024-03-15T24:00:00", "2024-03-15T23:60:00", "2024-03-15T23:59:60"),
    *("2024-03-15T14:30", "2024-03-15T14:30:00Z", "2024-03-15T14:30:00z", "2024-03-15t14:30:00"),
    *(
        "2024-03-15T14:30:00.5",
        "2024-03-15T14:30:00.1234567891234",
        "2024-03-15T14:30:00.",
        "2024-1-5 4:3:2",
    ),
    *(
        "2024-03-15T14:30:00+02:00",
        "2024-03-15T14:30:00 -0530",
        "2024-03-15T14:30:00+2",
        "2024-03-15T14:30:00+24:00",
    ),
    *(
        "2024-03-15T14:30:00+23:59",
        "2024-03-15T14:30:00+00:60",
        "0001-01-01T00:00:00+00:01",
        "0001-01-01T00:00:00-00:01",
    ),
    *(
        "9999-12-31T23:59:59.999999-00:01",
        "9999-12-31T23:59:59.999999Z",
        "2024-12-31T23:30:00.25-01:00",
    ),
    *(
        "2024-03-15  14:30:00",
        "2024-03-15\tT 14 : 30 : 00 Z ",
        "99999999999-01-01",
        "2024-03-15T14:30:00.5 +01:00",
    ),
]


def test_iso_texts(spark: SparkSession) -> None:
    texts = [f"x.{to}_{kind}()" for to in ("to", "try") for kind in ("date", "datetime")]
    agree(spark, texts, [{"x": text} for text in [*ISO_TEXTS, None]])


DATE_PATTERNS = {
    "%d/%m/%Y": [
        "15/03/2024",
        "1/2/2024",
        "31/02/2024",
        "32/01/2024",
        " 15/ 3/2024",
        "15/03/24",
        "15-03-2024",
    ],
    "%m%d%y": ["031524", "31524", "023069", "022970", "0315 24", "1131 0", "022900"],
    "%Y%m%d": ["20240315", "2024 315", "20240230", "+20240315", "1 1 1"],
    "%C%y-%m-%d": ["2024-03-15", "0000-01-01", "0001-01-01", "9999-12-31", "20 24-3-1"],
    "%d-%b-%Y": [
        "15-Mar-2024",
        "15-MAR-2024",
        "15-mär-2024",
        "15-March-2024",
        "15-xyz-2024",
        "30-feb-2024",
    ],
    "%B %e, %Y": [
        "March 15, 2024",
        "mar 5, 2024",
        "MAY 1, 2024",
        "sept 1, 2024",
        "March15,2024",
        "\u017fept 1, 2024",
    ],
    "%a %d %b %Y": ["Fri 15 Mar 2024", "Thu 15 Mar 2024", "fri 15 mar 2024", "Friday 15 Mar 2024"],
    "%A %F": ["Friday 2024-03-15", "Fri 2024-03-15", "Monday 2024-03-15"],
    "%Y-%j": [
        "2024-060",
        "2024-366",
        "2023-366",
        "2024-0",
        "2024-367",
        "9999-365",
        "2024-1",
        "9999-366",
    ],
    "%G-W%V-%u": [
        "2024-W11-5",
        "2024-W53-1",
        "2020-W53-7",
        "2026-W53-7",
        "2024-W00-1",
        "2024-W11-8",
        "1-W01-1",
        "9999-W52-6",
    ],
    "%g %V %w": ["24 11 5", "69 01 0", "70 1 6", "20 53 0", "19 53 0"],
    "%Y %U %w": [
        "2024 0 0",
        "2024 00 1",
        "2024 10 5",
        "2024 53 0",
        "2023 01 0",
        "2023 53 0",
        "2023 52 7",
        "1 0 1",
        "9999 52 6",
    ],
    "%Y %W %a": [
        "2024 11 Fri",
        "2024 0 Mon",
        "2024 53 Mon",
        "2024 01 Mon",
        "1 0 sun",
        "2024 54 Mon",
    ],
    "%q %Y-%m-%d": ["1 2024-03-15", "2 2024-03-15", "5 2024-03-15"],
    "%y %Y-%m-%d": ["24 2024-03-15", "23 2024-03-15"],
    "%D": ["03/15/24", "3/5/70", "02/29/23"],
    "%v": ["15-Mar-2024", " 5-Mar-2024"],
    "[%Y] it's (%m)\\\\{%d}": [
        "[2024] it's (03)\\{15}",
        "[2024]it's(03)\\{15}",
        "[2024] its (03)\\{15}",
    ],
    "%Y年%m月%d日": ["2024年03月15日", "2024年3月5日"],
    "%d%%%m%%%Y": ["15%3%2024", "15%%3%2024"],
    "%Y-%m-%d\\\\s": ["2024-03-15\\s", "2024-03-15 "],
    "%Y-%m-%d %H": ["2024-03-15 23", "2024-03-15 24", "2024-03-15 7"],
    "%Y-%m-%d %I": ["2024-03-15 12", "2024-03-15 13", "2024-03-15 0"],
    "%Y-%m-%d %p": ["2024-03-15 AM", "2024-03-15 pm", "2024-03-15 xm"],
    "%Y-%m-%d %I %P": ["2024-03-15 12 am", "2024-03-15 13 pm", "2024-03-15 0 am"],
    "%Y-%m-%d %H %I": ["2024-03-15 13 1", "2024-03-15 13 2", "2024-03-15 0 12"],
    "%Y-%m-%d %S": ["2024-03-15 59", "2024-03-15 60"],
    "%F %s": ["2024-03-15 1710460800", "2024-03-15 1710460799", "2024-03-15 0"],
    "%F%z": ["2024-03-15+0200", "2024-03-15 -02:30", "2024-03-15+0260", "2024-03-15"],
}
DATETIME_PATTERNS = {
    "%d.%m.%Y %H:%M": [
        "15.03.2024 14:30",
        "15.03.2024 24:00",
        "15.03.2024 14:60",
        "15.03.2024 1:3",
    ],
    "%Y-%m-%d %H:%M:%S": ["2024-03-15 14:30:59", "2024-03-15 14:30:60", "2024-02-30 00:00:00"],
    "%d/%m/%Y %I:%M %p": [
        "15/03/2024 2:30 PM",
        "15/03/2024 12:30 am",
        "15/03/2024 12:00 Pm",
        "15/03/2024 13:30 PM",
        "15/03/2024 0:30 AM",
    ],
    "%FT%T%.f": [
        "2024-03-15T14:30:00",
        "2024-03-15T14:30:00.5",
        "2024-03-15T14:30:00.123456789123",
        "2024-03-15T14:30:00.",
    ],
    "%F %T.%3f": ["2024-03-15 14:30:00.123", "2024-03-15 14:30:00.12"],
    "%F %T,%6f": ["2024-03-15 14:30:00,000001", "9999-12-31 23:59:59,999999"],
    "%F %T %9f": ["2024-03-15 14:30:00 123456789"],
    "%F %T %f": [
        "2024-03-15 14:30:00 123456789",
        "2024-03-15 14:30:00 5",
        "2024-03-15 14:30:00 5000",
    ],
    "%F %R%.3f": ["2024-03-15 14:30.5", "2024-03-15 14:30"],
    "%s": [
        "0",
        "-1",
        "+1710513000",
        "253402300799",
        "253402300800",
        "-62135596800",
        "-62135596801",
        "999999999999999999",
        "1e5",
        " 7",
    ],
    "%s%.f": ["-1.5", "0.000001", "1710513000.1234567"],
    "%s %p %y": ["1710513000 PM 24", "1710513000 AM 24", "1710513000 PM 23"],
    "%c": ["Fri Mar 15 14:30:00 2024", "Thu Mar 15 14:30:00 2024", "Fri Mar  5 14:30:00 2024"],
    "%Y-%j %R": ["2024-060 23:59", "2023-366 00:00"],
    "%G-W%V-%u %r": ["2024-W11-5 02:30:05 PM", "2024-W53-5 02:30:05 PM"],
    "%H%I%p %M %F": ["1402PM 30 2024-03-15", "1403PM 30 2024-03-15", "1402AM 30 2024-03-15"],
    "%k:%M %l %P %F": ["14:30  2 pm 2024-03-15", " 2:30 2 pm 2024-03-15"],
    "%F%n%R%t": ["2024-03-15 14:30", "2024-03-15\n14:30\t", "2024-03-15\u300014:30"],
}
STRAY = ["", " ", "nonsense", "15/03/2024", "2024-03-15", ",", "1,2,3", "😀" * 50]


@pytest.mark.parametrize("kind", ["date", "datetime"])
def test_patterns(spark: SparkSession, kind: str) -> None:
    patterns = DATETIME_PATTERNS if kind == "datetime" else DATE_PATTERNS | DATETIME_PATTERNS
    patterns = {p: t for p, t in patterns.items() if kind == "datetime" or not p.startswith("%s")}
    texts = [*STRAY, *ISO_TEXTS, *itertools.chain.from_iterable(patterns.values()), None]
    records = [{"x": text} for text in texts]
    calls = [f'x.{to}_{kind}("{pattern}")' for pattern in patterns for to in ("to", "try")]
    for start in range(0, len(calls), 12):
        agree(spark, calls[start : start + 12], records, {"x": STRING.nullable()})


def test_a_format_that_is_not_known_before(spark: SparkSession) -> None:
    records = [{"x": "15.3.2024", "f": f} for f in ("%d.%m.%Y", "%m.%d.%Y", "%H", "", None)]
    agree(spark, ["x.to_date(f)", "x.try_date(f)"], records, native=False)


GERMAN = ["15. März 2024", "15. MÄRZ 2024", "15. mär. 2024", "15. Mär 2024", "5. Mai 2024"]
GERMAN += ["15. March 2024", "15. Marz 2024", "31. Sept. 2024", "30. Sept. 2024", "1. ,2024", ""]
FRENCH = ["ven. 15 mars 2024", "VENDREDI 15 MARS 2024", "jeu 15 mars 2024", "jeudi 1 août 2024"]
FRENCH += ["jeudi 1 AOÛT 2024", "jeu. 1 aout 2024", "mar 13 févr. 2024"]
SPANISH = ["15 de marzo de 2024", "15 DE MARZO DE 2024", "15 de sept. de 2024", "1 de Ene de 2024"]
TURKISH = ["5 NİSAN 2024", "5 nisan 2024", "5 MAYIS 2024", "5 May\u0131s 2024", "5 mayis 2024"]
UKRAINIAN = ["п'ятниця 15 березня 2024", "П\u2019ЯТНИЦЯ 15 Березень 2024"]  # noqa: RUF001


@pytest.mark.parametrize(
    ("locale", "format", "texts"),
    [
        ("de", "%d. %B %Y", GERMAN),
        ("de", "%d. %b %Y", GERMAN),
        ("de", "%d. %b. %Y", GERMAN),
        ("fr", "%A %d %B %Y", FRENCH),
        ("es", "%d de %B de %Y", SPANISH),
        ("tr", "%d %B %Y", TURKISH),
        ("uk", "%A %d %B %Y", UKRAINIAN),
    ],
)
def test_dates_with_names_of_other_languages(
    spark: SparkSession, locale: str, format: str, texts: list[str]
) -> None:
    calls = [f't.to_date("{format}")', f't.try_date("{format}")']
    schema = {"t": STRING.nullable()}
    agree(spark, calls, [{"t": t} for t in (*texts, None)], schema, names=date_names(locale))


def test_halves_of_days_in_spanish(spark: SparkSession) -> None:
    halves = ["p. m.", "p.\u00a0m.", "p.\u202fm", "A. M.", "pm", "AM", "p.", "x"]
    records = [{"t": f"15/03/2024 3:04 {half}"} for half in halves]
    call = 't.try_datetime("%d/%m/%Y %I:%M %p")'
    agree(spark, call, records, {"t": STRING.nullable()}, names=date_names("es"))


def test_names_with_commas_are_read_by_the_interpreter(spark: SparkSession) -> None:
    names = date_names("yav")
    records = [{"t": f"5 {month} 2024"} for month in names.months.shown]
    call = 't.to_date("%d %B %Y")'
    agree(spark, call, records, {"t": STRING.nullable()}, names=names, native=False)
