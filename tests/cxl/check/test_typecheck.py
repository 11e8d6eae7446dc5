"""Types, failures and what a program tells about itself."""

from __future__ import annotations

import pytest

from clinker.cxl.check.resolve import Context, ProgramKind, Row, WindowContext
from clinker.cxl.check.typecheck import check, check_expression
from clinker.cxl.failure import FailureKind
from clinker.cxl.syntax.parser import parse, parse_expression
from clinker.cxl.types import ANY, BOOL, DATE, DATETIME, FLOAT, INT, MAP, NUMERIC, STRING, array_of
from clinker.diagnostics import Source
from tests.cxl.running import compiled

ROW = Row(
    {
        "i": INT,
        "j": INT.nullable(),
        "f": FLOAT,
        "s": STRING,
        "b": BOOL,
        "d": DATE,
        "t": DATETIME,
        "n": NUMERIC,
        "x": ANY,
        "m": MAP,
        "tags": array_of(STRING),
        "doc.city": STRING,
    }
)


def expression_type(text: str) -> str:
    checked = check_expression(parse_expression(Source("t", text)), Context(row=ROW))
    assert checked.expression, [d.message for d in checked.diagnostics]
    return str(checked.expression.type)


def failures(text: str) -> set[str]:
    checked = check_expression(parse_expression(Source("t", text)), Context(row=ROW))
    assert checked.expression, [d.message for d in checked.diagnostics]
    return {kind.value for kind in checked.expression.fails}


def first_error(text: str, context: Context | None = None) -> str:
    checked = check(parse(Source("t", text)), context or Context(row=ROW))
    assert checked.program is None
    return next(d.message for d in checked.diagnostics if d.is_error)


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("i + 1", "Int"),
        ("i + f", "Float"),
        ("i + j", "Nullable(Int)"),
        ("n + 1", "Numeric"),
        ("n + 1.0", "Float"),
        ("null + 5", "Nullable(Int)"),
        ("s + s", "String"),
        ("x + s", "Nullable(String)"),
        ("i / j", "Nullable(Int)"),
        ("i > 1", "Bool"),
        ("j > 1", "Nullable(Bool)"),
        ("j ?? 0", "Int"),
        ("j ?? 0.5", "Float"),
        ("null ?? 1", "Int"),
        ("j.catch(0)", "Int"),
        ("d ?? t", "DateTime"),
        ("if b then 1 else 2.5", "Float"),
        ("if b then 1", "Nullable(Int)"),
        ('if b then 1 else "a"', "Int or String"),
        ('match s { "a" => 1, _ => 2 }', "Int"),
        ('match s { "a" => 1 }', "Nullable(Int)"),
        ("[1, 2.5]", "Array(Float)"),
        ("tags[0]", "Nullable(String)"),
        ("tags.map(it => it.length())", "Array(Int)"),
        ("tags.filter(it => it != s)", "Array(String)"),
        ("tags.find(it => b)", "Nullable(String)"),
        ("m.city", "Any"),
        ("doc.city", "String"),
        ("m.set(s, 1)", "Nullable(Map)"),
        ("d.add_days(1)", "Nullable(Date)"),
        ("t.hour()", "Int"),
        ("d.hour()", "Nullable(Int)"),
        ("i.abs()", "Int"),
        ("f.clamp(0, 10)", "Float"),
        ("now", "DateTime"),
        ("x.upper()", "Nullable(String)"),
    ],
)
def test_types(text: str, type_: str) -> None:
    assert expression_type(text) == type_


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("f + 1.5", set()),
        ("s + s", set()),
        ("i + 1", {"integer_overflow"}),
        ("i / 2", set()),
        ("i / j", {"division_by_zero", "integer_overflow"}),
        ("i / -1", {"division_by_zero", "integer_overflow"}),
        ("f / 2.0", set()),
        ("f / f", {"division_by_zero"}),
        ("-5", set()),
        ("x + 1", {"type_mismatch", "integer_overflow"}),
        ("x == 1", set()),
        ("x > 1", {"type_mismatch"}),
        ("x and b", {"type_mismatch"}),
        ("s.to_int()", {"conversion_failed"}),
        ("i.to_float()", set()),
        ("s.try_int()", set()),
        ('s.matches("[a-z]+")', set()),
        ('s.matches(".*x.*")', {"slow_pattern"}),
        ("s.matches(s)", {"invalid_pattern", "slow_pattern"}),
        ('d.format_date("%Y")', set()),
        ("s.year()", {"conversion_failed"}),
        ("d.year()", set()),
        ("x.upper()", {"type_mismatch"}),
        ("m.city", set()),
        ("tags.map(it => it.to_int())", {"conversion_failed"}),
        ("if b then f / f else 0.0", {"division_by_zero"}),
    ],
)
def test_failures(text: str, kinds: set[str]) -> None:
    assert failures(text) == kinds


def test_a_program_tells_what_it_reads_and_writes() -> None:
    program = compiled(
        """
        let total = i * 2
        filter b
        emit total = total
        emit name = s.upper()
        emit meta flag = $vars.limit
        """,
        Context(row=ROW, vars={"limit": INT}),
    )
    assert program.fields_read == {(None, "i"), (None, "b"), (None, "s")}
    assert {k: str(t) for k, t in program.fields_written.items()} == {
        "total": "Int",
        "name": "String",
    }
    assert list(program.meta_written) == ["flag"]
    assert program.system_read == {("vars", ("limit",))}
    assert program.fails == {FailureKind.INTEGER_OVERFLOW}


def test_fields_of_different_fan_outs_may_be_missing() -> None:
    program = compiled(
        """
        emit id = i
        emit each tag in tags { emit tag = tag }
        emit each n in [1, 2] { emit n = n }
        """,
        Context(row=ROW),
    )
    written = {name: str(t) for name, t in program.fields_written.items()}
    assert written == {"id": "Int", "tag": "Nullable(String)", "n": "Nullable(Int)"}
    assert FailureKind.EXPANSION_LIMIT in program.fails


def test_emits_shadow_fields_and_lets_in_order() -> None:
    program = compiled("let i = s emit s = i.length() emit n = s + 1", Context(row=ROW))
    assert str(program.fields_written["n"]) == "Int"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("emit a = sum(i)", "'sum' is an aggregate function and needs a group of records"),
        ("emit a = $window.sum(i)", "'$window.sum' needs an analytic window"),
        ("filter i", "the filter condition must be Bool, got Int"),
        ("filter j", "the filter condition must be Bool, got Int"),
        ("emit a = d > s", "cannot apply '>' to Date and String"),
        ("emit a = b < b", "cannot apply '<' to Bool and Bool"),
        ("emit a = i == s", "cannot apply '==' to Int and String"),
        ("emit a = doc.town", "unknown field 'doc.town'"),
        ("emit a = $vars.nope", "unknown variable '$vars.nope'"),
        ("emit a = i.upper()", "'upper' expects String, got Int"),
        ('emit a = s.left("x")', "'left' expects Int for 'n', got String"),
        ("emit a = tags.map(i)", "'map' expects a closure"),
        ("emit a = s.upper(it => it)", "'upper' takes 0 arguments, got 1"),
    ],
)
def test_wrong_programs(program: str, message: str) -> None:
    assert first_error(program) == message


def test_a_nullable_condition_is_a_condition() -> None:
    assert compiled("filter j > 1", Context(row=ROW))


AGGREGATE = Context(row=ROW, kind=ProgramKind.AGGREGATE, group_by=("s",))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("emit a = i", "field 'i' must appear in group_by or be used inside an aggregate function"),
        ("emit a = sum(sum(i))", "'sum' cannot be nested in another aggregate function"),
        ("let a = sum(i)", "'sum' is only allowed in emit: let and filter see single records"),
        ("filter sum(i) > 1", "'sum' is only allowed in emit: let and filter see single records"),
        ("distinct", "distinct is not allowed in an aggregate"),
        ("emit each t in tags { emit a = t }", "emit each is not allowed in an aggregate"),
        (
            "let k = i emit a = k",
            "'k' depends on field 'i', which differs within a group",
        ),
        ("emit a = sum(s)", "'sum' expects Numeric for 'value', got String"),
        ("emit a = weighted_avg(i)", "'weighted_avg' takes 2 arguments, got 1"),
        (
            "emit a = $source.file",
            "$source.file differs from record to record and a group has many",
        ),
    ],
)
def test_wrong_aggregates(program: str, message: str) -> None:
    assert first_error(program, AGGREGATE) == message


def test_aggregates_keep_group_keys_and_earlier_emits() -> None:
    program = compiled(
        "let double = i * 2 emit total = sum(double) emit both = s + total.to_string()", AGGREGATE
    )
    assert {k: str(t) for k, t in program.fields_written.items()} == {
        "total": "Nullable(Int)",
        "both": "Nullable(String)",
    }


WINDOW = Context(row=Row({"amount": INT, "region": STRING}), window=WindowContext())


@pytest.mark.parametrize(
    "program",
    [
        "emit amount = $window.first()",
        "emit prev_amount = $window.lag(1)",
        "emit change = amount - ($window.lag(1) ?? amount)",
        "emit a = $window.lag(amount, 2)",
        "emit a = $window.lead(1).amount",
    ],
)
def test_positional_functions_find_their_field(program: str) -> None:
    assert compiled(program, WINDOW).fields_read == {(None, "amount")}


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("emit two_back = $window.lag(2)", "it is not clear which field '$window.lag' reads"),
        ("emit a = $window.sum($window.sum(amount))", "window functions cannot be nested"),
        (
            "let r = $window.sum(amount) emit a = $window.sum(r)",
            "window functions cannot be nested",
        ),
        ("emit a = $window.sum(region)", "'sum' expects Numeric for 'field', got String"),
        ("emit a = $window.total(amount)", "unknown window function '$window.total'"),
        ("emit a = $window.lag(amount).amount", "'$window.lag' takes a literal number of records"),
    ],
)
def test_wrong_windows(program: str, message: str) -> None:
    assert first_error(program, WINDOW) == message


COMBINE = Context(
    qualifiers={
        "orders": Row({"id": INT, "product_id": INT}),
        "products": Row({"id": INT, "label": STRING}),
    }
)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("emit a = label", "field 'label' must be qualified with its input"),
        ("emit a = id", "field 'id' is ambiguous: it is in several inputs"),
        ("emit a = products.lable", "unknown field 'products.lable'"),
    ],
)
def test_combine_fields_are_qualified(program: str, message: str) -> None:
    assert first_error(program, COMBINE) == message


def test_qualified_fields() -> None:
    program = compiled("emit a = products.label + orders.id.to_string()", COMBINE)
    assert program.fields_read == {("products", "label"), ("orders", "id")}


@pytest.mark.parametrize("statement", ["emit", "let"])
def test_statements_do_not_hide_the_fields_of_an_input(statement: str) -> None:
    program = f"{statement} products = products.label emit id = products.id emit a = products"
    written = compiled(program, COMBINE).fields_written
    assert (written["id"], written["a"]) == (INT, STRING)


def test_what_no_input_has_is_looked_up_in_the_map_of_that_name() -> None:
    program = compiled('emit products = {"x": products.id} emit a = products.x', COMBINE)
    assert program.fields_read == {("products", "id")}
