"""Methods of texts mean the same to Spark and to the interpreter, edges included."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import random
import struct
from collections.abc import Sequence

import pytest
from pyspark.sql import SparkSession

from clinker.cxl.builtins.strings import MAX_TEXT_BYTES, lower, upper
from clinker.cxl.types import ANY, ARRAY, DATE, DATETIME, FLOAT, INT, STRING
from clinker.cxl.values import MAX_INT, MIN_INT, Value
from tests.engine.expressions.running import agree, evaluate_on_spark, schema_of

BLANKS = "\t\n\v\f\r \x1c\x1d\x1e\x1f\x85\xa0\u1680\u180e\u2000\u200a\u200b\u2028\u3000\ufeff"
TEXTS = [
    *("", " ", "a", "A", "abc", "aaa", "Hello World", "héllo", "e\u0301", "ñé😀", "😀", "😀😀a"),
    *(
        "Grüße",
        "ẞ",
        "ß",
        "İI",
        "\u0131i",
        "ǆǅ",
        "ΑΣ",
        "ΣΑΣ Σ",
        "ﬃ",
        "ŉ",
        "\0",
        "a\0b",
        "\n",
        "a\nb\r\n",
    ),
    *(
        f"{BLANKS}x{BLANKS}",
        "'",
        '"',
        "\\",
        "\\E",
        "a\\Eb\\",
        "${a}",
        "`",
        "%_",
        "a.b.c",
        "a|b||c|",
    ),
    *("$1", "\\1", "[a]", "(", "1,2,,3,", ",", ",,", "\U0010ffff", "\ud7ff\ue000", "null"),
    None,
]
COUNTS = [0, 1, 2, 3, 5, 100, -1, 2**31 - 2, 2**31 - 1, 2**31, 2**32 + 1, MAX_INT, MIN_INT, None]


def columns(**values: Sequence[Value]) -> list[dict[str, Value]]:
    """Every combination of the values."""
    records: list[dict[str, Value]] = [{}]
    for name, each in values.items():
        records = [{**record, name: value} for record in records for value in each]
    return records


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


# --- Case and blanks ---


def test_methods_of_one_text(spark: SparkSession) -> None:
    names = ["upper", "lower", "trim", "trim_start", "trim_end", "reverse", "length"]
    long = ["é" * 500_000, "x" * 1_000_000, " " * 1_000_000]
    agree(spark, [f"s.{name}()" for name in names], columns(s=[*TEXTS, *long]))


def test_every_character_has_the_same_case_everywhere(spark: SparkSession) -> None:
    codes = [code for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    # Between blanks no character depends on its neighbours.
    texts = [" ".join(map(chr, codes[at : at + 500])) for at in range(0, len(codes), 500)]
    records = columns(s=texts)
    for name, meaning in (("upper", upper), ("lower", lower)):
        assert evaluate_on_spark(spark, f"s.{name}()", records) == [meaning(t) for t in texts]


def test_small_sigma_at_the_end_of_words(spark: SparkSession) -> None:
    parts = ["Σ", "A", " ", "'", "\u0301", "1", "😀", "ʰ", "\xad"]
    texts = [
        "".join(each) for count in (2, 3, 4) for each in itertools.product(parts, repeat=count)
    ]
    agree(spark, "s.lower()", columns(s=texts), {"s": STRING})


# --- Parts ---


def test_parts(spark: SparkSession) -> None:
    others = ["", "a", "b", "aa", "\0", "😀", "é", "\u0301", "\\", "\\E", ".", "|", "||", ",", "$1"]
    texts = [
        *("s.starts_with(t)", "s.ends_with(t)", "s.contains(t)", "s.split(t)", "s.replace(t, r)"),
        *('s.replace(t, "$1\\\\")', 's.replace("", r)'),
    ]
    agree(spark, texts, columns(s=TEXTS, t=[*others, None], r=["", "-", "aa", "$0\\1", None]))


@pytest.mark.parametrize(
    "delimiter",
    ["", " ", ",", "a", "\t", "\n", "\0", "|", "||", ".", "\\", "\\E", "[a]", "$", "😀", "\u0301"],
)
def test_literal_delimiters(spark: SparkSession, delimiter: str) -> None:
    text = quoted(delimiter)
    texts = [f"s.split({text})", f"s.contains({text})", f's.replace({text}, "<>")']
    agree(spark, texts, columns(s=[*TEXTS, "ab" * 100_000]))


def test_counts(spark: SparkSession) -> None:
    records = columns(s=["", "a", "hello", "a😀é\u0301b", None], n=COUNTS, m=COUNTS)
    texts = ["s.substring(n)", "s.substring(n, m)", "s.left(n)", "s.right(n)", "s.repeat(n)"]
    agree(spark, texts, records)
    literals = [-1, 0, 2, 7, MAX_INT]
    texts = [
        f"s.{name}({n})" for n in literals for name in ("substring", "left", "right", "repeat")
    ]
    agree(spark, texts + [f"s.substring({n}, {m})" for n in literals for m in literals], records)


# --- Building ---


def test_padding(spark: SparkSession) -> None:
    chars = ["", " ", "0", "xy", "é", "😀", "\0", "\u0301", None]
    widths = [0, 1, 3, 4, 20, -1, 2**31, MAX_INT, MIN_INT, None]
    records = columns(s=["", "a", "abc", "a😀b", None], n=widths, c=chars)
    texts = [f"s.{name}({args})" for name in ("pad_left", "pad_right") for args in ("n", "n, c")]
    texts += ['s.pad_left(5, "0")', 's.pad_right(5, "")', 's.pad_left(5, "😀!")', "s.pad_left(-1)"]
    agree(spark, texts, records)


def test_texts_up_to_the_limit(spark: SparkSession) -> None:
    limit = MAX_TEXT_BYTES
    texts = [
        *("s.pad_left(n).length()", 's.pad_right(n, "é").length()', 's.pad_left(n, "😀").length()'),
        "s.repeat(n).length()",
    ]
    sizes = [limit // 4, limit // 4 + 1, limit // 2 + 1, limit, limit + 1, limit // 3]
    agree(spark, texts, columns(s=["", "a", "é", "abc"], n=sizes), {"s": STRING, "n": INT})


def test_no_text_is_built_that_is_too_large(spark: SparkSession) -> None:
    # What the interpreter computes for the last one keeps Spark from seeing that all others fail.
    huge = [f'"ab".{name}({MAX_INT})' for name in ("pad_left", "pad_right", "repeat")]
    agree(spark, [*huge, '"a".matches(s)'], columns(s=["a", "b"]), {"s": STRING}, native=False)


# --- Text forms ---

SCALARS: list[Value] = [
    *(
        None,
        True,
        False,
        0,
        -1,
        MAX_INT,
        MIN_INT,
        0.0,
        -0.0,
        2.0,
        2.5,
        1e-7,
        1e22,
        5e-324,
        math.nan,
    ),
    *(
        math.inf,
        -math.inf,
        "",
        "a",
        "null",
        '"',
        "\\",
        "a, b",
        "2.0",
        "true",
        "😀\0\n",
        "@x",
        "[1]",
    ),
    *(dt.date(2024, 3, 15), dt.date(1, 1, 1), dt.datetime(2024, 3, 15, 12), dt.datetime.max),
    *(dt.datetime(2024, 3, 15, 12, 0, 1, 250_000), dt.datetime(999, 1, 1, 0, 0, 0, 1)),
]
NESTED: list[Value] = [
    [],
    [None],
    [[]],
    [1, [2.0, ["x", {}]]],
    {},
    {"k": None},
    {"a:": {'q"\\': [SCALARS]}},
    {"": "", "\n": 1, '":': '":', "\U0001f600": "\x7f\x1f"},
    ["\\" * 10_000],
]


def test_text_forms(spark: SparkSession) -> None:
    texts = [
        "s.concat(x)",
        's.concat(x, "-", x, null)',
        'x.format("")',
    ]
    agree(
        spark,
        texts,
        columns(s=["", "<", None], x=[*SCALARS, *NESTED]),
        {"s": STRING.nullable(), "x": ANY},
    )
    for kind in (bool, int, float, str, dt.date, dt.datetime):
        values = [value for value in SCALARS if type(value) is kind]
        agree(
            spark,
            ["s.concat(x)", "s.concat(x, x)", 'x.format("")'],
            columns(s=["<", None], x=values),
        )
    agree(spark, ["s.concat()", "s.concat(null)"], columns(s=["<"]))


def test_joining(spark: SparkSession) -> None:
    any_array = columns(a=[SCALARS, NESTED, [], [None, None], ["a"], None], d=["", ", ", None])
    agree(spark, "a.join(d)", any_array, {"a": ARRAY.nullable(), "d": STRING.nullable()})
    arrays: list[list[Value]] = [[], [None], ["a", None, ""], [1, None], [1.5, 2.0], [True]]
    arrays += [[[1, None], None, []], [[["x"]]], [dt.date(1, 2, 3)], [dt.datetime(1, 2, 3, 4)]]
    for array in arrays:
        agree(spark, ["a.join(d)", "a.length()", 'a.format("")'], columns(a=[array], d=["|", ""]))


# --- Patterns ---

PATTERNS = [
    *(
        "",
        "a",
        "[a-z]+",
        "a|ab",
        "(a|ab)(c|bcd)",
        "^$",
        "^a",
        "a$",
        ".",
        "(?s).",
        "(?i)HELLO",
        "\\\\",
    ),
    *(
        "(a)|(b)",
        "(a*)|b",
        "(x?)(a)?",
        "(a)?(b)?(c)?",
        "((a)|b){0,9}",
        "(😀)|(é*)",
        "[^a]",
        "\\bh",
        "\\B",
    ),
    *(
        "'",
        '"',
        "`",
        "\\$\\{a\\}",
        "(?m)^b$",
        "(\\d+),(\\d*)",
        "\\x00",
        "[\\x{1F600}-\\x{1F64F}]",
        "\\p{Lu}",
    ),
    *("(?P<first>.)(?P<rest>.*)", "(1)(2)?(3)?(4)?(5)?(6)?(7)?(8)?(9)?(10)?(11)?", "%_"),
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(spark: SparkSession, pattern: str) -> None:
    text = quoted(pattern)
    texts = [f"s.matches({text})", f"s.find({text})", f"s.capture({text})", f"s.capture({text}, n)"]
    texts += [f"s.capture({text}, {group})" for group in (-1, 1, 2, 11, 12)]
    records = columns(s=TEXTS, n=[0, 1, 2, 11, -1, MAX_INT, None])
    agree(spark, texts, records, schema_of(records))


def test_patterns_on_long_texts(spark: SparkSession) -> None:
    texts = ['s.matches("[a-z]*")', 's.find("b")', 's.capture("a(b?)", 1)', 's.capture("c*")']
    agree(spark, texts, columns(s=["a" * 1_000_000, "a" * 1_000_000 + "b", "😀" * 300_000]))


def test_loops_that_overflow_the_stack_of_java_need_the_interpreter(spark: SparkSession) -> None:
    texts = ['s.matches("(?:a|bb|b)*")', 's.find("([a-z]+,)+$")', 's.capture("((a)b)*", 2)']
    agree(spark, texts, columns(s=["ab" * 100_000, "a," * 100_000, ""]), native=False)
    texts = ['s.matches("(?:ab)*")', 's.capture("(a[,b])*", 1)']
    agree(spark, texts, columns(s=["ab" * 100_000, "a," * 100_000, ""]))
    agree(spark, ['s.find("(?:a|b){900}$")'], columns(s=["ab" * 2_000, "a," * 2_000, ""]))


def test_patterns_known_only_at_run_time_need_the_interpreter(spark: SparkSession) -> None:
    texts = ["s.matches(p)", "s.find(p)", "s.capture(p)"]
    agree(spark, texts, columns(s=["a", "b"], p=["a", "(", None]), native=False)


# --- Formats ---

INTS = [0, 1, -1, 12, -123, 1234, 12345, -123456, 1234567, 10**15, MAX_INT, MIN_INT, None]
FLOATS = [
    *(0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 0.125, 0.375, 2.675, 1.005, 0.045, 1e-7, -1e-9, 5e-324, 0.1),
    *(
        0.9999,
        9.995,
        99.5,
        999.95,
        999999.999,
        1234567.891,
        -1234567.891,
        0.29,
        1.15,
        8.5,
        4503599627370495.5,
    ),
    *(
        2.0**52 + 0.5,
        2.0**53 - 1,
        2.0**53,
        2.0**53 + 2,
        2.0**63 - 1024,
        2.0**63,
        -(2.0**63),
        2.0**64,
        1e17,
        1e22,
    ),
    *(1e23, 1e300, 1.7e306, 1.8e306, 1.7976931348623157e308, math.inf, -math.inf, math.nan, None),
]
SPECS = [
    *(
        "",
        ">8",
        "*^9",
        "é<7",
        "+",
        " ",
        "05",
        "010",
        "08,",
        "_",
        ",",
        "+_",
        "=<20,",
        "+015,",
        "😀^30,",
    ),
    *(
        ".2f",
        ",.2f",
        ".0f",
        "f",
        "+,.1f",
        "012.3f",
        "015,.2f",
        "020_.4f",
        ".15f",
        "_.1f",
        "x>20.2f",
        " .5f",
    ),
    *(".1%", "%", ".0%", "+,.2%", "012.1%", "<9.1%", "030,.3%", "1000.2f", "0999,.1f"),
]


def random_floats(count: int) -> list[float]:
    bits = random.Random(7)
    any_bits = [struct.unpack("<d", bits.randbytes(8))[0] for _ in range(count)]
    halves = [bits.randrange(10**9) / 2 ** bits.randrange(1, 12) for _ in range(count)]
    return (
        any_bits
        + halves
        + [round(bits.uniform(-1e6, 1e6), bits.randrange(8)) for _ in range(count)]
    )


@pytest.mark.parametrize("specs", [SPECS[at : at + 8] for at in range(0, len(SPECS), 8)])
def test_number_formats(spark: SparkSession, specs: list[str]) -> None:
    texts = [f"x.format({quoted(spec)})" for spec in specs]
    agree(spark, texts, columns(x=INTS), {"x": INT.nullable()})
    agree(spark, texts, columns(x=[*FLOATS, *random_floats(100)]), {"x": FLOAT.nullable()})


def test_formats_of_either_kind_of_number(spark: SparkSession) -> None:
    texts = [f'x.format("{spec}")' for spec in ("", ",", "+010", ",.2f", ".1%")]
    agree(spark, texts, columns(x=[*INTS, *FLOATS]), {"x": (INT | FLOAT).nullable()})


def test_formats_of_ints(spark: SparkSession) -> None:
    texts = [f'x.format("{spec}")' for spec in ("d", "05d", "+,d", "_d", "020,d", ">30,d")]
    agree(spark, texts, columns(x=INTS), {"x": INT.nullable()})


@pytest.mark.parametrize("precisions", [range(4), range(4, 8), range(8, 12), range(12, 16)])
def test_decimals_are_rounded_from_the_exact_value(spark: SparkSession, precisions: range) -> None:
    texts = [f'x.format(".{precision}f")' for precision in precisions]
    agree(spark, texts, columns(x=[*FLOATS, *random_floats(2000)]), {"x": FLOAT.nullable()})


@pytest.mark.parametrize("widths", [range(1, 7), range(7, 13), range(13, 19)])
def test_zeros_and_thousands(spark: SparkSession, widths: range) -> None:
    numbers = [sign * 10**digits for digits in range(14) for sign in (1, -1)]
    texts = [f'x.format("0{width}{rest}")' for width in widths for rest in (",d", "d", ",.1f")]
    agree(spark, texts, columns(x=numbers), {"x": INT})
    texts = [f'x.format("0{width}{rest}")' for width in widths for rest in (",", "_.1f")]
    agree(spark, texts, columns(x=[number / 8 for number in numbers]), {"x": FLOAT})


def test_formats_of_texts_and_bools(spark: SparkSession) -> None:
    texts = [
        f"x.format({quoted(spec)})"
        for spec in (">5", "<5", "^6", "*^7", "😀>4", "'<3", "3", "1000")
    ]
    agree(spark, texts, columns(x=["", "a", "ab", "é😀", "longer text", None]))
    agree(spark, texts, columns(x=[True, False, None]))


def test_formats_that_do_not_suit_every_value(spark: SparkSession) -> None:
    texts = [f'x.format("{spec}")' for spec in ("d", ">5", ".2f", "")]
    agree(spark, texts, columns(x=[*SCALARS, *NESTED]), {"x": ANY})


def test_formats_of_dates(spark: SparkSession) -> None:
    texts = [f'x.format("{fmt}")' for fmt in ("%d.%m.%Y", "%A, %e %B", "no date", "%j %U %V")]
    days = [value for value in SCALARS if type(value) is dt.date]
    agree(spark, texts, columns(x=[*days, None]), {"x": DATE.nullable()})
    moments = [value for value in SCALARS if isinstance(value, dt.datetime)]
    texts += [f'x.format("{fmt}")' for fmt in ("%H:%M:%S%.f", "%c", "%I %p")]
    agree(spark, texts, columns(x=[*moments, None]), {"x": DATETIME.nullable()})
    agree(spark, texts, columns(x=[*days, *moments, 1, "x", None]), {"x": ANY})


def test_formats_without_native_form(spark: SparkSession) -> None:
    texts = ['x.format(".3e")', 'x.format(".16f")', "x.format(f)"]
    agree(spark, texts, columns(x=[0.1, -2.5, 1e300], f=[".2f", "", None]), native=False)
