"""CXL expressions full of odd literals, computed by the interpreter and by Spark."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence
from functools import partial

from tests.engine.expressions.running import (
    NamedColumns,
    fingerprint,
    on_interpreter,
    on_spark,
)

from clinker.cxl.builtins import METHODS
from clinker.cxl.builtins.declare import ClosureParam, Method, Param
from clinker.cxl.check import typed
from clinker.cxl.check.resolve import Context, Row
from clinker.cxl.check.typecheck import check_expression
from clinker.cxl.run.evaluate import Record
from clinker.cxl.syntax.parser import parse_expression
from clinker.cxl.types import ANY, BOOL, DATE, DATETIME, FLOAT, INT, STRING, Kind, Type
from clinker.diagnostics import Source
from clinker.diagnostics.render import render_text
from clinker.engine.expressions import Compiler
from clinker.engine.session.session import Session
from fuzz.engine import answers
from fuzz.findings import Finding, Tally, dice, judged
from fuzz.findings import Kind as Problem

AREA = "literals"
_PER_JOB = 120
_PATIENCE = 300.0
COLUMNS: dict[str, Type] = {
    "s": STRING,
    "i": INT,
    "f": FLOAT,
    "b": BOOL,
    "d": DATE,
    "t": DATETIME,
    "v": ANY,
    "S": STRING.nullable(),
    "I": INT.nullable(),
}
RECORDS: list[Record] = [
    {
        "s": "a'b\"`$1`${x}\\u0041\n",
        "i": 7,
        "f": -0.5,
        "b": True,
        "d": dt.date(2024, 2, 29),
        "t": dt.datetime(1999, 12, 31, 23, 59, 59, 999_999),
        "v": {"k": [1, "x"]},
        "S": None,
        "I": None,
    },
    {
        "s": "",
        "i": -(2**63),
        "f": float("nan"),
        "b": False,
        "d": dt.date(1, 1, 1),
        "t": dt.datetime(9999, 12, 31),
        "v": "2024-01-01",
        "S": "ß𝄞",
        "I": 0,
    },
]
_TEXTS = (
    *(
        "",
        "a",
        " a ",
        "'",
        '\\"',
        "\\\\",
        "`",
        "`$1`",
        "${x}",
        "${env:HOME}",
        "$pos",
        "%",
        "_",
        "\\n",
    ),
    *(
        "\\t",
        "ä",
        "𝄞",
        "\u2028",
        "\ufeff",
        "\x01",
        "--",
        "/*",
        "*/",
        "\\\\u0041",
        "\\\\n",
        "{}",
        "[a",
    ),
    *("2024-02-30", "2024-02-29", "NaN", "1e5", "0x10", "true", "%Y-%m-%d", ",.2f", "a|b", "(a)"),
)
_INTS = ("0", "1", "-1", "7", "9223372036854775807", "-9223372036854775807", "100000", "3")
_FLOATS = ("0.0", "1.5", "-0.1", "1e10", "123456789.987654321", "0.000001", "1e300", "2.5")
_DATES = ("#2024-02-29#", "#0001-01-01#", "#9999-12-31#", "#1970-01-01#")
_OPERATORS = ("+", "-", "*", "/", "%", "==", "!=", "<", ">=", "and", "or", "??")
_ALL = sorted((m for named in METHODS.values() for m in named), key=lambda m: (m.name, m.family))


def play(seed: int, rounds: range, tally: Tally, session: Session | None) -> None:
    """Without a session the expressions are compiled for Spark, but not computed by it."""
    for start in rounds[::_PER_JOB]:
        accepted: dict[str, tuple[int, typed.Expr]] = {}
        for number in range(start, min(start + _PER_JOB, rounds.stop)):
            text = made(dice(seed, AREA, number))
            tally.tried[AREA] += 1
            if wrong := judged(partial(_alone, text)):
                tally.findings.append(Finding(AREA, number, wrong.kind, wrong.detail, text))
            elif expression := checked(text):
                accepted[text] = (number, expression)
        if session is not None:
            _together(session, accepted, tally)
            if tally.findings and not answers(session):
                return


def checked(text: str) -> typed.Expr | None:
    """The expression, if the checker takes it."""
    found = check_expression(parse_expression(Source("fuzz.cxl", text)), Context(row=Row(COLUMNS)))
    render_text(found.diagnostics)
    return found.expression


def _alone(text: str) -> None:
    if expression := checked(text):
        on_interpreter(expression, RECORDS)
        Compiler(NamedColumns()).expression(expression)


def _together(session: Session, accepted: dict[str, tuple[int, typed.Expr]], tally: Tally) -> None:
    """Many expressions in one job; where that fails, in two with half of them each."""
    if not accepted:
        return
    expressions = [expression for _, expression in accepted.values()]
    found: list[list[object]] = []

    def compute() -> None:
        found.extend(map(list, on_spark(session.spark, expressions, RECORDS, COLUMNS)))

    wrong = judged(compute, _PATIENCE)
    if wrong is None:
        for (text, (number, expression)), outcomes in zip(accepted.items(), found, strict=True):
            _compare(text, number, expression, outcomes, tally)
    elif len(accepted) == 1 or not answers(session):
        number, _ = next(iter(accepted.values()))
        tally.findings.append(Finding(AREA, number, wrong.kind, wrong.detail, "\n".join(accepted)))
    else:
        items = list(accepted.items())
        _together(session, dict(items[: len(items) // 2]), tally)
        _together(session, dict(items[len(items) // 2 :]), tally)


def _compare(
    text: str, number: int, expression: typed.Expr, outcomes: Sequence[object], tally: Tally
) -> None:
    wanted = on_interpreter(expression, RECORDS)
    for record, got, want in zip(RECORDS, outcomes, wanted, strict=True):
        if fingerprint(got) != fingerprint(want):
            detail = f"Spark gives {got!r}, the interpreter {want!r} for {record}"
            tally.findings.append(Finding(AREA, number, Problem.DIFFERENT, detail, text))
            return


# Making expressions


def made(chance: random.Random) -> str:
    return _call(chance, 2) if chance.random() < 0.6 else _value(chance, ANY, 3)


def _value(chance: random.Random, wanted: Type, depth: int) -> str:
    if depth and chance.random() < 0.25:
        return _compound(chance, depth)
    if chance.random() < 0.3:
        fitting = [name for name, type_ in COLUMNS.items() if type_.maybe(wanted.kinds)]
        return chance.choice(fitting or ["v"])
    return _literal(chance, wanted, depth)


def _compound(chance: random.Random, depth: int) -> str:
    match chance.randint(0, 4):
        case 0:
            left, right = (_value(chance, ANY, depth - 1) for _ in range(2))
            return f"({left} {chance.choice(_OPERATORS)} {right})"
        case 1:
            condition, then, other = (_value(chance, ANY, depth - 1) for _ in range(3))
            return f"(if {condition} then {then} else {other})"
        case 2:
            return f"(not {_value(chance, BOOL, depth - 1)})"
        case _:
            return _call(chance, depth)


def _literal(chance: random.Random, wanted: Type, depth: int) -> str:
    kinds = [kind for kind in _KINDS if wanted.kinds & kind] or [Kind.NULL]
    match chance.choice(kinds):
        case Kind.STRING:
            return '"' + "".join(chance.choices(_TEXTS, k=chance.randint(0, 3))) + '"'
        case Kind.INT:
            return chance.choice(_INTS)
        case Kind.FLOAT:
            return chance.choice(_FLOATS)
        case Kind.BOOL:
            return chance.choice(["true", "false"])
        case Kind.DATE | Kind.DATETIME:
            return chance.choice(_DATES)
        case Kind.ARRAY if depth:
            items = (_value(chance, ANY, depth - 1) for _ in range(chance.randint(0, 3)))
            return f"[{', '.join(items)}]"
        case Kind.MAP if depth:
            keys = chance.sample(_TEXTS, chance.randint(0, 2))
            members = (f'"{key}": {_value(chance, ANY, depth - 1)}' for key in keys)
            return f"{{{', '.join(members)}}}"
        case _:
            return "null"


_KINDS = (
    *(Kind.STRING, Kind.INT, Kind.FLOAT, Kind.BOOL, Kind.DATE, Kind.DATETIME),
    *(Kind.ARRAY, Kind.MAP, Kind.NULL),
)


def _call(chance: random.Random, depth: int) -> str:
    method = chance.choice(_ALL)
    receiver = _value(chance, method.receiver, depth - 1)
    args = (_argument(chance, param, depth - 1) for param in _params(chance, method))
    return f"({receiver}).{method.name}({', '.join(args)})"


def _params(chance: random.Random, method: Method) -> list[Param]:
    most = method.max_args if method.max_args is not None else len(method.params) + 1
    return [method.param(at) for at in range(chance.randint(method.min_args, most))]


def _argument(chance: random.Random, param: Param, depth: int) -> str:
    if isinstance(param, ClosureParam):
        body = chance.choice(["it", "it == null", "it > 1", "true", _value(chance, ANY, depth)])
        return f"it => {body}"
    return _value(chance, param.type if chance.random() < 0.9 else ANY, depth)
