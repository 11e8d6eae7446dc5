"""Programs and the trees they stand for."""

from __future__ import annotations

import pytest

from clinker.cxl.syntax import ast
from clinker.cxl.syntax.expressions import MAX_NESTING
from clinker.cxl.syntax.format import format_expression
from clinker.cxl.syntax.lexer import MAX_SOURCE_BYTES
from clinker.cxl.syntax.parser import parse, parse_expression
from clinker.diagnostics import Source


def expression(text: str) -> ast.Expr:
    parsed = parse_expression(Source("test.cxl", text))
    assert parsed.expression, [d.message for d in parsed.diagnostics]
    return parsed.expression


def statements(text: str) -> tuple[ast.Statement, ...]:
    parsed = parse(Source("test.cxl", text))
    assert parsed.diagnostics == []
    return parsed.program.statements


def messages(text: str) -> list[str]:
    return [d.message for d in parse(Source("test.cxl", text)).diagnostics]


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("2 + 3 * 4", "2 + (3 * 4)"),
        ("2 - 3 - 4", "(2 - 3) - 4"),
        ("a ?? b ?? c", "a ?? (b ?? c)"),
        ("a ?? 1 + 2", "a ?? (1 + 2)"),
        ("a or b and c", "a or (b and c)"),
        ("not a and b", "(not a) and b"),
        ("not a == b", "(not a) == b"),
        ("-42.abs()", "-(42.abs())"),
        ("-a * b", "(-a) * b"),
        ("1 + 2 == 3", "(1 + 2) == 3"),
        ("a < b and b < c", "(a < b) and (b < c)"),
        ("if a then b else c + 1", "if a then b else (c + 1)"),
        ("1 + if a then b else c", "1 + (if a then b else c)"),
        ("if a then if b then c else d", "if a then (if b then c else d)"),
        ("items.map(it => it + 1)", "items.map(it => (it + 1))"),
        ("$source.file.upper()", "($source.file).upper()"),
        ("a\n  .trim()\n  .upper()", "a.trim().upper()"),
        ("a -- a remark\n + b", "a + b"),
    ],
)
def test_precedence(text: str, grouped: str) -> None:
    assert expression(text) == expression(grouped)


def test_and_is_one_node_however_long() -> None:
    chain = expression(" and ".join(["a"] * 1000))
    assert isinstance(chain, ast.Logic)
    assert len(chain.operands) == 1000


def test_parentheses_keep_nested_logic_apart() -> None:
    assert expression("(a or b) or c") != expression("a or b or c")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("007", 7),
        ("1.50", 1.5),
        ("-9223372036854775808", -(2**63)),
        (r'"a\"b\\\n\t\d"', 'a"b\\\n\t\\d'),
        ("'it''s'", None),
        ("'say \"hi\"'", 'say "hi"'),
        ('"é😀"', "é😀"),
        ("true", True),
        ("null", None),
    ],
)
def test_literals(text: str, value: object) -> None:
    if text == "'it''s'":
        assert messages(f"emit x = {text}")
        return
    found = expression(text)
    assert isinstance(found, ast.Literal)
    assert found.value == value
    assert type(found.value) is type(value)


def test_unpadded_date_literal() -> None:
    assert format_expression(expression("#2024-1-5#")) == "#2024-01-05#"


def test_statements_need_no_separator() -> None:
    kinds = [type(s) for s in statements("let a = 1 emit b = a filter b > 0 distinct by b")]
    assert kinds == [ast.Let, ast.Emit, ast.Filter, ast.Distinct]


def test_keywords_are_method_names_after_a_dot() -> None:
    found = expression("items.filter(it => it.match).let")
    assert isinstance(found, ast.Member)
    assert found.name == "let"


@pytest.mark.parametrize(
    "text", ["emit each = 1", "emit meta = 1", "emit outer = 1", "emit this = 1"]
)
def test_contextual_words_are_ordinary_names(text: str) -> None:
    (statement,) = statements(text)
    assert isinstance(statement, ast.Emit)


def test_both_forms_of_metadata() -> None:
    assert statements("emit meta a = 1") == statements("emit $meta.a = 1")


@pytest.mark.parametrize(
    ("text", "level", "guarded", "is_conditional"),
    [
        ('trace "x"', "trace", False, False),
        ('trace warn "x"', "warn", False, False),
        ('trace info if a then "x"', "info", True, False),
        ('trace if a then "x" else "y"', "trace", False, True),
        ("trace info", "trace", False, False),
        ("trace info.upper()", "trace", False, False),
    ],
)
def test_trace(text: str, level: str, guarded: bool, is_conditional: bool) -> None:
    (statement,) = statements(text)
    assert isinstance(statement, ast.Trace)
    assert statement.level.value == level
    assert (statement.guard is not None) == guarded
    assert isinstance(statement.message, ast.If) == is_conditional


def test_match_arms_need_no_commas() -> None:
    with_commas = expression('match s { "a" => 1, "b" => 2, _ => 3, }')
    assert expression('match s { "a" => 1 "b" => 2 _ => 3 }') == with_commas


def test_this_is_the_record_only_when_a_field_follows() -> None:
    assert expression("this + 1") == expression("(this) + 1")
    found = expression("this.amount")
    assert isinstance(found, ast.Member)
    assert isinstance(found.object, ast.This)


def test_all_errors_are_found_in_one_run() -> None:
    found = messages(
        """
        emit a = 1 +
        let = 5
        emit c = (1 + 2
        emit d = a && b
        emit each x in items {
          emit e =
          emit f = ]
        }
        emit g = 1
        """
    )
    assert len(found) == 6


def test_an_error_in_a_block_does_not_end_the_block() -> None:
    parsed = parse(Source("t", "emit each x in y { emit a = } emit b = 1"))
    assert len(parsed.diagnostics) == 1
    kinds = [type(s) for s in parsed.program.statements]
    assert kinds == [ast.EmitEach, ast.Emit]


@pytest.mark.parametrize(
    "text",
    [
        "emit x = " + "(" * (MAX_NESTING + 1) + "1" + ")" * (MAX_NESTING + 1),
        "emit x = " + "-" + " -" * MAX_NESTING + "1",
        "emit x = " + "+".join(["1"] * (MAX_NESTING + 2)),
        "emit x = a" + ".trim()" * (MAX_NESTING + 1),
        "emit x = " + "[" * 30_000,
        "emit x = " + "if a then " * (MAX_NESTING + 1) + "1",
    ],
    ids=["parentheses", "negations", "sum", "methods", "brackets", "conditionals"],
)
def test_deep_expressions_are_reported(text: str) -> None:
    assert any("nesting too deep" in message for message in messages(text))


def test_nesting_at_the_limit_is_fine() -> None:
    depth = MAX_NESTING - 1
    assert messages("emit x = " + "(" * depth + "1" + ")" * depth) == []


def test_emit_each_nests_32_levels() -> None:
    def nested(levels: int) -> str:
        return "emit each x in y { " * levels + "emit a = 1" + " }" * levels

    assert messages(nested(32)) == []
    assert any("32 levels" in message for message in messages(nested(33)))


def test_large_programs_are_reported() -> None:
    line = "emit x = 1\n"
    assert messages(line * (MAX_SOURCE_BYTES // len(line))) == []
    assert "more than the 65536 allowed" in messages(line * MAX_SOURCE_BYTES)[0]
