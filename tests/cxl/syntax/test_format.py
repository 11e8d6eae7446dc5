"""`cxl fmt`: what canonical programs look like, and what formatting never changes."""

from __future__ import annotations

import itertools
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinker.cxl.syntax import ast
from clinker.cxl.syntax.format import WIDTH, format_expression, format_program
from clinker.cxl.syntax.lexer import tokenize
from clinker.cxl.syntax.parser import Parsed, parse, parse_expression
from clinker.diagnostics import Source
from tests.cxl.syntax import trees


def parsed(text: str) -> Parsed:
    result = parse(Source("program.cxl", text))
    assert [d.message for d in result.diagnostics] == [], text
    return result


def formatted(text: str) -> str:
    """The canonical form of `text`, after the checks that hold for every program."""
    before = parsed(text)
    result = format_program(before)
    after = parsed(result)
    assert after.program == before.program
    assert [c.text for c in after.comments] == [c.text for c in before.comments]
    assert format_program(after) == result
    return result


def written(program: ast.Program) -> str:
    """The canonical form of a program that has no text yet."""
    return format_program(Parsed(Source("program.cxl", ""), program, [], []))


def examples(**cases: str | tuple[str, str]) -> pytest.MarkDecorator:
    """Programs before and after formatting; a single text is canonical already."""
    pairs = [(case, case) if isinstance(case, str) else case for case in cases.values()]
    texts = [(dedent(before).strip("\n"), dedent(after).lstrip("\n")) for before, after in pairs]
    return pytest.mark.parametrize(("before", "after"), texts, ids=list(cases))


# Statements


@examples(
    emit=("emit   a=1", "emit a = 1\n"),
    one_statement_per_line=("let a=1 emit b=a", "let a = 1\nemit b = a\n"),
    emit_fields_named_like_modifiers=("emit meta=1 emit each=2", "emit meta = 1\nemit each = 2\n"),
    emit_meta=("emit meta q = 1 emit $meta.r = 2", "emit meta q = 1\nemit meta r = 2\n"),
    filter=("filter(amount>0)", "filter amount > 0\n"),
    distinct=("distinct distinct by\nid", "distinct\ndistinct by id\n"),
    distinct_by_path=("distinct by a\n . b .emit # key", "distinct by a.b.emit  # key\n"),
    use=("use shared . dates use shared.dates as d", "use shared.dates\nuse shared.dates as d\n"),
    function=("fn add(a,b)=a+b fn one()=1", "fn add(a, b) = a + b\nfn one() = 1\n"),
    trace=("trace 'seen' trace trace 'seen'", 'trace "seen"\ntrace "seen"\n'),
    trace_level=("trace warn('odd')", 'trace warn "odd"\n'),
    trace_guard=("trace info if(a)then b", "trace info if a then b\n"),
    trace_conditional_message=("trace (if a then b else c)", "trace if a then b else c\n"),
    trace_conditional_without_else=("trace (if a then b)", "trace (if a then b)\n"),
    trace_guard_and_conditional=(
        "trace if a then if b then c else d",
        "trace if a then (if b then c else d)\n",
    ),
    trace_field_named_like_level=(
        "trace info trace info.upper()",
        "trace info\ntrace info.upper()\n",
    ),
    trace_message_that_looks_like_level=(
        "trace (info[0]) trace trace info - 1 trace (warn(a))",
        "trace (info[0])\ntrace (info - 1)\ntrace (warn(a))\n",
    ),
    trace_level_and_field_named_like_it=("trace info info-1", "trace info info - 1\n"),
    nothing=("", ""),
    only_blanks=("\n  \n", ""),
    byte_order_mark=("\ufeffemit a = 1", "emit a = 1\n"),
    windows_line_ends=(
        "emit a = 1\r\n\r\n\r\nemit b = 2 # two\r\n",
        "emit a = 1\n\nemit b = 2  # two\n",
    ),
)
def test_statements(before: str, after: str) -> None:
    assert formatted(before) == after


@examples(
    kept=("emit a = 1\n\nemit b = 2", "emit a = 1\n\nemit b = 2\n"),
    at_most_one=("emit a = 1\n\n \n\nemit b = 2", "emit a = 1\n\nemit b = 2\n"),
    none_at_the_edges=("\n\nemit a = 1\n\n\n", "emit a = 1\n"),
    around_comments=("# a\n\n\n# b\n\nemit a = 1", "# a\n\n# b\n\nemit a = 1\n"),
    in_blocks=(
        "emit each x in xs {\n\n  emit a = 1\n\n\n  emit b = 2\n\n}",
        "emit each x in xs {\n  emit a = 1\n\n  emit b = 2\n}\n",
    ),
    between_arms=(
        "emit a = match b {\n\n 1 => 2,\n\n\n # rest\n 3 => 4, _ => 5\n\n}",
        "emit a = match b {\n  1 => 2,\n\n  # rest\n  3 => 4,\n  _ => 5,\n}\n",
    ),
)
def test_blank_lines(before: str, after: str) -> None:
    assert formatted(before) == after


# Expressions


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("null", "null"),
        ("true", "true"),
        ("007", "7"),
        ("1.0", "1.0"),
        ("1.50", "1.5"),
        ("100000000000000000000000.0", "100000000000000000000000.0"),
        ("0.00000001", "0.00000001"),
        ("#2024-1-5#", "#2024-01-05#"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("'plain'", '"plain"'),
        (r"'say \"hi\"'", r'"say \"hi\""'),
        (r'"it\'s"', '"it\'s"'),
        (r'"\n\t\r\\"', r'"\n\t\r\\"'),
        ('"a\tb\rc"', r'"a\tb\rc"'),
        (r'"\d+"', r'"\\d+"'),
        ('"Zürich \u2028 \x00 🙂"', '"Zürich \u2028 \x00 🙂"'),
    ],
)
def test_literals(before: str, after: str) -> None:
    assert format_expression(expression(before)) == after


def expression(text: str) -> ast.Expr:
    result = parse_expression(Source("expression", text))
    assert result.expression, [d.message for d in result.diagnostics]
    return result.expression


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Left-associative operators
        ("((a))", "a"),
        ("(a + b) + c", "a + b + c"),
        ("a + (b + c)", "a + (b + c)"),
        ("(a - b) - c", "a - b - c"),
        ("a - (b - c)", "a - (b - c)"),
        ("(a * b) + c", "a * b + c"),
        ("(a + b) * c", "(a + b) * c"),
        ("(a / b) % c", "a / b % c"),
        ("a / (b % c)", "a / (b % c)"),
        # `??` associates to the right
        ("a ?? (b ?? c)", "a ?? b ?? c"),
        ("(a ?? b) ?? c", "(a ?? b) ?? c"),
        ("(a or b) ?? (c and d)", "a or b ?? c and d"),
        ("(a ?? b) or c", "(a ?? b) or c"),
        # Comparisons do not chain
        ("(a < b) == c", "(a < b) == c"),
        ("a == (b < c)", "a == (b < c)"),
        ("(a + b) < (c * d)", "a + b < c * d"),
        # A chain of `and` or `or` is one node
        ("a or b or c", "a or b or c"),
        ("(a or b) or c", "(a or b) or c"),
        ("a or (b or c)", "a or (b or c)"),
        ("(a and b) or (c and d)", "a and b or c and d"),
        ("(a or b) and c", "(a or b) and c"),
        # Prefix operators
        ("not (a == b)", "not (a == b)"),
        ("(not a) == b", "not a == b"),
        ("not (not a)", "not not a"),
        ("(-a) * b", "-a * b"),
        ("-(a * b)", "-(a * b)"),
        ("a - (-b)", "a - -b"),
        ("-(-a)", "- -a"),
        ("--a", "- -a"),
        ("- -9223372036854775808", "- -9223372036854775808"),
        ("-(not a)", "-not a"),
        # Postfix
        ("-5.abs()", "-5.abs()"),
        ("(-5).abs()", "(-5).abs()"),
        ("-(5.abs())", "-5.abs()"),
        ("(-9223372036854775808).abs()", "(-9223372036854775808).abs()"),
        ("(a ?? '').trim()", '(a ?? "").trim()'),
        ("(a.b)[0].c", "a.b[0].c"),
        ("(match a { _ => b }).c()", "match a { _ => b }.c()"),
        ("this.a + this['b'] + this", 'this.a + this["b"] + this'),
        ("(this).a", "(this).a"),
        ("count(_) + count(*)", "count(*) + count(*)"),
        # A conditional is set apart from what surrounds it, needed or not
        ("a * (if b then c else d)", "a * (if b then c else d)"),
        ("a * if b then c else d", "a * (if b then c else d)"),
        ("(if a then b else c) * d", "(if a then b else c) * d"),
        ("if a then b else c * d", "if a then b else c * d"),
        ("not if a then b else c", "not (if a then b else c)"),
        ("if (if a then b) then c", "if (if a then b) then c"),
        ("(if a then b).c()", "(if a then b).c()"),
        # Dangling else
        ("if a then (if b then c) else d", "if a then (if b then c) else d"),
        ("if a then if b then c else d", "if a then if b then c else d"),
        ("if a then (if b then c else d)", "if a then if b then c else d"),
        ("if a then (if b then c else d) else e", "if a then (if b then c else d) else e"),
        ("if a then b else (if c then d else e)", "if a then b else if c then d else e"),
        # Closures
        ("xs.map((it => (it)))", "xs.map(it => it)"),
        ("xs.map(it => if it then a)", "xs.map(it => if it then a)"),
        ("xs.map((it => it) ?? a)", "xs.map((it => it) ?? a)"),
        ("if a then (it => if b then c) else d", "if a then (it => if b then c) else d"),
        ("match { it => a, (it => b) => c }", "match { it => a, (it => b) => c }"),
        ("match { a + (it => b) => c }", "match { a + (it => b) => c }"),
        # A brace after `match` opens the arms
        ("match ({'a': 1}) { _ => b }", 'match ({"a": 1}) { _ => b }'),
        ("match ({'a': 1}.b + c) { _ => d }", 'match ({"a": 1}.b + c) { _ => d }'),
        ("match [{}] { _ => a }", "match [{}] { _ => a }"),
        # Collections
        ("[ ] + [1 ,2, ]", "[] + [1, 2]"),
        ("{ } + {'a':1 , 'b' : [2],}", '{} + {"a": 1, "b": [2]}'),
        ("$window . lag( a ,1 )", "$window.lag(a, 1)"),
        ("d :: f( ) + d::C", "d::f() + d::C"),
    ],
)
def test_expressions(before: str, after: str) -> None:
    tree = expression(before)
    assert format_expression(tree) == after
    assert expression(after) == tree


def test_an_expression_stays_on_one_line() -> None:
    text = "match a { 1 => b, 2 => c, _ => " + " + ".join(["long_name"] * 20) + " }"
    assert format_expression(expression(text)) == text


# Layout


@examples(
    match_of_two_arms=(
        "emit a = match b { 1 => 2, _ => 3, }",
        "emit a = match b { 1 => 2, _ => 3 }\n",
    ),
    match_of_three_arms=(
        "emit a = match b { 1 => 2 3 => 4 _ => 5 }",
        """
        emit a = match b {
          1 => 2,
          3 => 4,
          _ => 5,
        }
        """,
    ),
    long_match_of_two_arms=(
        """
        emit shipping_label = match country_of_destination
          { "CH" => "domestic parcel", _ => "international parcel" }
        """,
        """
        emit shipping_label = match country_of_destination {
          "CH" => "domestic parcel",
          _ => "international parcel",
        }
        """,
    ),
    nested_match=(
        "emit a = match { b => match c { 1 => 2, 3 => 4, _ => 5 }, _ => 6 }",
        """
        emit a = match {
          b => match c {
            1 => 2,
            3 => 4,
            _ => 5,
          },
          _ => 6,
        }
        """,
    ),
    long_arm=(
        """
        emit label = match kind {
          "lengthy" =>
          "a rather long text about the kind, followed by its name: " + kind_name + "!!!!!!!!!!!",
          _ => null
        }
        """,
        """
        emit label = match kind {
          "lengthy" =>
            "a rather long text about the kind, followed by its name: " + kind_name + "!!!!!!!!!!!",
          _ => null,
        }
        """,
    ),
    conditional_chain=(
        """
        emit tier = if amount > 1000 then "platinum" else if amount > 500 then "gold"
          else if amount > 100 then "silver" else "bronze"
        """,
        """
        emit tier =
          if amount > 1000 then "platinum"
          else if amount > 500 then "gold"
          else if amount > 100 then "silver"
          else "bronze"
        """,
    ),
    conditional_with_long_branches=(
        """
        emit note = if amount > $vars.high_value_threshold and customer.segment == "retail"
          then "please check with the customer first: " + customer.name + ", " + customer.phone
          else "nothing to do"
        """,
        """
        emit note =
          if amount > $vars.high_value_threshold and customer.segment == "retail" then
            "please check with the customer first: " + customer.name + ", " + customer.phone
          else "nothing to do"
        """,
    ),
    conditional_with_long_condition=(
        """
        emit note = if amount > $vars.high_value_threshold and customer.segment == "retail"
          and customer.since < #2020-01-01# then "check"
        """,
        """
        emit note =
          if amount > $vars.high_value_threshold
              and customer.segment == "retail"
              and customer.since < #2020-01-01# then "check"
        """,
    ),
    value_that_fits_below=(
        """
        emit customer_description = customer.first_name + " " + customer.last_name
          + " (" + customer.city + ")"
        """,
        """
        emit customer_description =
          customer.first_name + " " + customer.last_name + " (" + customer.city + ")"
        """,
    ),
    sum=(
        """
        emit customer_description = customer.first_name + " " + customer.last_name
          + " (" + customer.city + ", " + customer.country * 2 + ")"
        """,
        """
        emit customer_description =
          customer.first_name
          + " "
          + customer.last_name
          + " ("
          + customer.city
          + ", "
          + customer.country * 2
          + ")"
        """,
    ),
    logic=(
        """
        filter (status == "active" or status == "pending")
          and amount > 100 and region == "EMEA" and not deleted
        """,
        """
        filter (status == "active" or status == "pending")
          and amount > 100
          and region == "EMEA"
          and not deleted
        """,
    ),
    logic_in_parentheses=(
        """
        filter not (status == "active" or status == "pending"
          or amount > 100 or region == "EMEA" or deleted or archived)
        """,
        """
        filter not (
          status == "active"
          or status == "pending"
          or amount > 100
          or region == "EMEA"
          or deleted
          or archived
        )
        """,
    ),
    operators_of_two_levels=(
        """
        filter status_of_the_order == "active" and amount_of_the_order > 100
          and region_of_the_order == "EMEA" or override
        """,
        """
        filter status_of_the_order == "active"
            and amount_of_the_order > 100
            and region_of_the_order == "EMEA"
          or override
        """,
    ),
    fallbacks=(
        """
        emit contact = customer.mobile_number ?? customer.work_number ?? customer.home_number
          ?? customer.email_address ?? "none"
        """,
        """
        emit contact =
          customer.mobile_number
          ?? customer.work_number
          ?? customer.home_number
          ?? customer.email_address
          ?? "none"
        """,
    ),
    method_chain=(
        """
        emit skus = items.filter(it => it["price"] > minimum_price)
          .map(it => it["sku"].trim().upper()).join(", ")
        """,
        """
        emit skus = items
          .filter(it => it["price"] > minimum_price)
          .map(it => it["sku"].trim().upper())
          .join(", ")
        """,
    ),
    single_call=(
        """
        emit flag = checks::flag_suspicious_amount(
          amount_in_local_currency, threshold_in_local_currency, 10000)
        """,
        """
        emit flag = checks::flag_suspicious_amount(
          amount_in_local_currency,
          threshold_in_local_currency,
          10000,
        )
        """,
    ),
    closure=(
        """
        emit buckets = items.map(it => if it["price"] >= 100 then "premium"
          else if it["price"] >= 10 then "standard" else "low")
        emit wide_buckets = items.map(it => if it["price"] >= 100 then "premium and delicate"
          else if it["price"] >= 10 then "standard" else "cheap")
        """,
        """
        emit buckets = items.map(it =>
          if it["price"] >= 100 then "premium" else if it["price"] >= 10 then "standard" else "low"
        )
        emit wide_buckets = items.map(it =>
          if it["price"] >= 100 then "premium and delicate"
          else if it["price"] >= 10 then "standard"
          else "cheap"
        )
        """,
    ),
    closure_with_match=(
        'emit names = codes.map(it => match it { "A" => "Active", "I" => "Inactive", _ => null })',
        """
        emit names = codes.map(it => match it {
          "A" => "Active",
          "I" => "Inactive",
          _ => null,
        })
        """,
    ),
    collections=(
        """
        emit address = {"street": customer.street.trim(),
          "city": customer.city.trim().upper(), "tags": ["a", "b"]}
        """,
        """
        emit address = {
          "street": customer.street.trim(),
          "city": customer.city.trim().upper(),
          "tags": ["a", "b"],
        }
        """,
    ),
    conditional_operand=(
        """
        emit price = base_price_in_local_currency
          * if customer_is_member_since_2024 then member_discount else 1.0 - seasonal_discount
        """,
        """
        emit price =
          base_price_in_local_currency
          * (if customer_is_member_since_2024 then member_discount else 1.0 - seasonal_discount)
        """,
    ),
    guarded_trace=(
        """
        trace info if $pipeline.total_count % 10000 == 0
          then "processed " + $pipeline.total_count.to_string() + " records"
        """,
        """
        trace info if $pipeline.total_count % 10000 == 0 then
          "processed " + $pipeline.total_count.to_string() + " records"
        """,
    ),
    blocks=(
        "emit each a in (xs) outer { emit each it in a { emit b=it } emit each c in [] {\n} }",
        """
        emit each a in xs outer {
          emit each it in a {
            emit b = it
          }
          emit each c in [] {}
        }
        """,
    ),
)
def test_layout(before: str, after: str) -> None:
    assert formatted(before) == after


def test_a_statement_may_be_as_wide_as_the_page() -> None:
    room = WIDTH - len("emit a = b + ")
    fitting = f"emit a = b + {'c' * room}\n"
    assert formatted(fitting) == fitting
    assert formatted(fitting.replace("c\n", "cc\n")) == f"emit a =\n  b + {'c' * (room + 1)}\n"


# Comments


@examples(
    above=("   # about a\n\t-- more\nemit a=1", "# about a\n-- more\nemit a = 1\n"),
    trailing=("emit a=1# one\nemit b=2    -- two", "emit a = 1  # one\nemit b = 2  -- two\n"),
    trailing_takes_no_room=(
        "emit a = " + "1 + " * 20 + "1 # " + "x" * 80,
        "emit a = " + "1 + " * 20 + "1  # " + "x" * 80 + "\n",
    ),
    text_untouched=("#!  a\t  b #c  \n--   \n##\n", "#!  a\t  b #c\n--\n##\n"),
    behind_a_date=("emit d = #2024-12-31# # a date", "emit d = #2024-12-31#  # a date\n"),
    between_two_statements_on_a_line=("let a = 1 let b = 2 # two", "let a = 1\nlet b = 2  # two\n"),
    at_the_end=("emit a = 1\n\n# done\n", "emit a = 1\n\n# done\n"),
    alone=("\n\n# nothing yet\n", "# nothing yet\n"),
    in_blocks=(
        """
        emit each x in xs {# items
        # first
        emit a=1# one
            # last
        }# end
        """,
        """
        emit each x in xs {  # items
          # first
          emit a = 1  # one
          # last
        }  # end
        """,
    ),
    in_empty_blocks=(
        "emit each x in xs { # a\n}\nemit each x in xs {\n# b\n}",
        "emit each x in xs {  # a\n}\nemit each x in xs {\n  # b\n}\n",
    ),
    around_arms=(
        """
        emit a = match b { # by b
        # one
        1 => 2, # two
        3 => 4 # four
        , # comma
        # rest
        _ => 5
        # end
        } # done
        """,
        """
        emit a = match b {  # by b
          # one
          1 => 2,  # two
          3 => 4,  # four
          # comma
          # rest
          _ => 5,
          # end
        }  # done
        """,
    ),
    short_match=(
        "emit a = match b { 1 => 2, # two\n _ => 3 }",
        "emit a = match b {\n  1 => 2,  # two\n  _ => 3,\n}\n",
    ),
    inside_an_arm=(
        "emit a = match b { 1 => f(c, # see c\n d), _ => 3 }",
        "emit a = match b {\n  # see c\n  1 => f(c, d),\n  _ => 3,\n}\n",
    ),
    inside_a_statement=(
        "emit a = 1\n\nemit # name\n b = # value\n  2 + # plus\n 3 # three",
        "emit a = 1\n\n# name\n# value\n# plus\nemit b = 2 + 3  # three\n",
    ),
    inside_a_conditional=(
        "emit a = if b then 1 # one\n  else 2 # two",
        "# one\nemit a = if b then 1 else 2  # two\n",
    ),
    before_a_block=(
        "emit each x # x\nin xs # xs\n { emit a = 1 }",
        "# x\n# xs\nemit each x in xs {\n  emit a = 1\n}\n",
    ),
    after_a_match_with_comments=(
        "emit a = match { _ => 1 # one\n} + # plus\n 2",
        "emit a =\n  match {\n    _ => 1,  # one\n    # plus\n  }\n  + 2\n",
    ),
)
def test_comments(before: str, after: str) -> None:
    assert formatted(before) == after


# The programs of the language's manual


@examples(
    command_line="""
        emit greeting = "hello"
        emit doubled = 21 * 2
        emit first = "Alice"
        emit last = "Smith"
        emit full = first + " " + last
        let tax_rate = 0.21
        emit tax = 100 * tax_rate
        filter amount > 0
        emit result = amount * 2
        let base = 100
        let rate = 0.15
        emit subtotal = base * rate
        emit total = base + subtotal
        """,
    templates=(
        """
        emit name = expression
        let name = expression
        filter condition
        emit it_depends = if condition then value else alternative
        emit by_value = match subject {
        pattern1 => result1,
        pattern2 => result2,
        _ => default
        }
        emit by_condition = match {
        condition1 => result1,
        condition2 => result2,
        _ => default
        }
        """,
        """
        emit name = expression
        let name = expression
        filter condition
        emit it_depends = if condition then value else alternative
        emit by_value = match subject {
          pattern1 => result1,
          pattern2 => result2,
          _ => default,
        }
        emit by_condition = match {
          condition1 => result1,
          condition2 => result2,
          _ => default,
        }
        """,
    ),
    minimal="""
        emit greeting = "hello"
        emit doubled = amount * 2
        filter amount > 0
        """,
    comments=(
        """
        # This is a comment
        emit total = price * qty # inline comment
        emit deadline = #2024-12-31# # this is a date literal, not a comment
        """,
        """
        # This is a comment
        emit total = price * qty  # inline comment
        emit deadline = #2024-12-31#  # this is a date literal, not a comment
        """,
    ),
    filter="""
        filter status == "active"
        let discount = if tier == "gold" then 0.2 else 0.1
        emit final_price = price * (1 - discount)
        """,
    distinct=("distinct\ndistinct by field_name", "distinct\ndistinct by field_name\n"),
    emit_meta="""
        emit meta quality_flag = if amount < 0 then "suspect" else "ok"
        filter $meta.quality_flag == "ok"
        """,
    trace="""
        trace "processing record"
        trace warn "unusual value detected"
        trace info if amount > 10000 then "high value transaction"
        """,
    statement_order=(
        """
        emit total = base + tax # error: 'base' is not defined yet
        let base = 100
        let tax = base * 0.21
        """,
        """
        emit total = base + tax  # error: 'base' is not defined yet
        let base = 100
        let tax = base * 0.21
        """,
    ),
    conditionals=(
        """
        emit label = if amount > 100 then "high" else "low"
        emit bonus = if score > 90 then score * 0.1
        emit tier = if amount > 1000 then "platinum"
        else if amount > 500 then "gold"
        else if amount > 100 then "silver"
        else "bronze"
        emit price = base * (if member then 0.8 else 1.0)
        """,
        """
        emit label = if amount > 100 then "high" else "low"
        emit bonus = if score > 90 then score * 0.1
        emit tier =
          if amount > 1000 then "platinum"
          else if amount > 500 then "gold"
          else if amount > 100 then "silver"
          else "bronze"
        emit price = base * (if member then 0.8 else 1.0)
        """,
    ),
    match_value=(
        """
        emit label = match status {
        "A" => "Active",
        "I" => "Inactive",
        "P" => "Pending",
        _ => "Unknown"
        }
        """,
        """
        emit label = match status {
          "A" => "Active",
          "I" => "Inactive",
          "P" => "Pending",
          _ => "Unknown",
        }
        """,
    ),
    match_condition=(
        """
        emit tier = match {
        amount > 1000 => "high",
        amount > 100 => "medium",
        _ => "low"
        }
        """,
        """
        emit tier = match {
          amount > 1000 => "high",
          amount > 100 => "medium",
          _ => "low",
        }
        """,
    ),
    tiered_pricing=(
        """
        emit discount = match {
        qty >= 1000 => 0.25,
        qty >= 100 => 0.15,
        qty >= 10 => 0.05,
        _ => 0.0
        }
        """,
        """
        emit discount = match {
          qty >= 1000 => 0.25,
          qty >= 100 => 0.15,
          qty >= 10 => 0.05,
          _ => 0.0,
        }
        """,
    ),
    status_code_mapping=(
        """
        emit status_text = match http_code {
        200 => "OK",
        201 => "Created",
        400 => "Bad Request",
        404 => "Not Found",
        500 => "Internal Server Error",
        _ => "HTTP " + http_code.to_string()
        }
        """,
        """
        emit status_text = match http_code {
          200 => "OK",
          201 => "Created",
          400 => "Bad Request",
          404 => "Not Found",
          500 => "Internal Server Error",
          _ => "HTTP " + http_code.to_string(),
        }
        """,
    ),
    region_classification=(
        """
        emit region = match country {
        "US" => "North America",
        "CA" => "North America",
        "MX" => "North America",
        "GB" => "Europe",
        "DE" => "Europe",
        "FR" => "Europe",
        _ => "Other"
        }
        """,
        """
        emit region = match country {
          "US" => "North America",
          "CA" => "North America",
          "MX" => "North America",
          "GB" => "Europe",
          "DE" => "Europe",
          "FR" => "Europe",
          _ => "Other",
        }
        """,
    ),
    order_of_arms=(
        """
        # Correct: specific before general
        emit category = match {
        amount > 10000 => "enterprise",
        amount > 1000 => "business",
        _ => "personal"
        }
        # Wrong: first arm always matches
        emit category = match {
        amount > 0 => "personal", # catches everything positive
        amount > 1000 => "business", # never reached
        amount > 10000 => "enterprise", # never reached
        _ => "unknown"
        }
        """,
        """
        # Correct: specific before general
        emit category = match {
          amount > 10000 => "enterprise",
          amount > 1000 => "business",
          _ => "personal",
        }
        # Wrong: first arm always matches
        emit category = match {
          amount > 0 => "personal",  # catches everything positive
          amount > 1000 => "business",  # never reached
          amount > 10000 => "enterprise",  # never reached
          _ => "unknown",
        }
        """,
    ),
    closures=(
        """
        let threshold = 10
        emit kept = items.filter(it => it["price"] > threshold)
        -- when `items` is null, `kept` is null; the body never runs
        emit kept_skus = items.filter(it => it["price"] > 5).map(it => it["sku"])
        emit price_buckets = items.map(it =>
        if it["price"] >= 100 then "premium"
        else if it["price"] >= 10 then "standard"
        else "value")
        """,
        """
        let threshold = 10
        emit kept = items.filter(it => it["price"] > threshold)
        -- when `items` is null, `kept` is null; the body never runs
        emit kept_skus = items.filter(it => it["price"] > 5).map(it => it["sku"])
        emit price_buckets = items.map(it =>
          if it["price"] >= 100 then "premium" else if it["price"] >= 10 then "standard" else "value"
        )
        """,  # noqa: E501
    ),
    nested_paths="""
        emit tenant = doc.metadata.tenant
        emit first_sku = items[0]["sku"]
        emit profile_email = users.profile["email"]
        emit head_sku_upper = items[0]["sku"].upper()
        """,
    emit_each=(
        """
        emit each section in article["sections"] {
        emit each tag in section["tags"] outer {
        emit article_id = article_id
        emit section = section["name"]
        emit tag = tag
        }
        }
        """,
        """
        emit each section in article["sections"] {
          emit each tag in section["tags"] outer {
            emit article_id = article_id
            emit section = section["name"]
            emit tag = tag
          }
        }
        """,
    ),
    null_handling=(
        """
        filter not amount.is_null()
        emit price = raw_price.try_float() ?? 0.0
        emit status = if amount.is_null() then "missing"
        else if amount < 0 then "invalid"
        else "ok"
        # Safe: coalesce first, then transform
        emit normalized = (raw_name ?? "").trim().upper()
        # Safe: test before use
        emit name = if raw_name.is_null() then "N/A" else raw_name.trim()
        """,
        """
        filter not amount.is_null()
        emit price = raw_price.try_float() ?? 0.0
        emit status = if amount.is_null() then "missing" else if amount < 0 then "invalid" else "ok"
        # Safe: coalesce first, then transform
        emit normalized = (raw_name ?? "").trim().upper()
        # Safe: test before use
        emit name = if raw_name.is_null() then "N/A" else raw_name.trim()
        """,
    ),
    module_of_functions="""
        fn fiscal_year(d) = if d.month() < 4 then d.year() - 1 else d.year()
        fn full_name(first, last) = first.trim() + " " + last.trim()
        fn clamp_pct(value) = value.clamp(0, 100).round_to(1)
        """,
    module_of_constants="""
        let tax_rate = 0.21
        let max_retries = 3
        let default_currency = "USD"
        """,
    module_file=(
        """
        fn fiscal_year(d) = if d.month() < 4 then d.year() - 1 else d.year()
        fn quarter(d) = match {
        d.month() <= 3 => 1,
        d.month() <= 6 => 2,
        d.month() <= 9 => 3,
        _ => 4
        }
        fn fiscal_quarter(d) = quarter(d.add_months(-3))
        let fiscal_start_month = 4
        """,
        """
        fn fiscal_year(d) = if d.month() < 4 then d.year() - 1 else d.year()
        fn quarter(d) = match {
          d.month() <= 3 => 1,
          d.month() <= 6 => 2,
          d.month() <= 9 => 3,
          _ => 4,
        }
        fn fiscal_quarter(d) = quarter(d.add_months(-3))
        let fiscal_start_month = 4
        """,
    ),
    imports=(
        """
        use module.path
        use module.path as alias
        use shared.dates # access as dates::fiscal_year(...)
        use shared.dates as d # access as d::fiscal_year(...)
        use shared.finance as f
        emit fiscal_year = d::fiscal_year(invoice_date)
        emit quarter = d::quarter(invoice_date)
        emit tax = amount * f::tax_rate
        emit net = amount - tax
        """,
        """
        use module.path
        use module.path as alias
        use shared.dates  # access as dates::fiscal_year(...)
        use shared.dates as d  # access as d::fiscal_year(...)
        use shared.finance as f
        emit fiscal_year = d::fiscal_year(invoice_date)
        emit quarter = d::quarter(invoice_date)
        emit tax = amount * f::tax_rate
        emit net = amount - tax
        """,
    ),
    module_members="""
        use shared.dates as d
        emit fy = d::fiscal_year(order_date)

        use shared.finance as f
        emit tax = amount * f::tax_rate
        """,
    complete_module=(
        """
        fn normalize_name(name) = name.trim().upper()
        fn safe_amount(raw) = raw.try_float() ?? 0.0
        fn flag_suspicious(amount, threshold) =
            if amount > threshold then "review" else "ok"
        let max_amount = 999999.99
        """,
        """
        fn normalize_name(name) = name.trim().upper()
        fn safe_amount(raw) = raw.try_float() ?? 0.0
        fn flag_suspicious(amount, threshold) = if amount > threshold then "review" else "ok"
        let max_amount = 999999.99
        """,
    ),
    complete_pipeline_block="""
        use etl.clean as c
        emit customer = c::normalize_name(raw_customer)
        emit amount = c::safe_amount(raw_amount)
        filter amount <= c::max_amount
        emit review_flag = c::flag_suspicious(amount, 10000)
        """,
)
def test_the_manual(before: str, after: str) -> None:
    assert formatted(before) == after


# Limits


@pytest.mark.parametrize(
    "value",
    [
        "-" * 250 + "1",
        "(" * 250 + "1" + ")" * 250,
        "[" * 250 + "1" + "]" * 250,
        "a" + "[a" * 250 + "]" * 250,
        "a" + ".b(a)" * 250,
        "1" + " + 1" * 250,
        "if a then 1 else " * 250 + "1",
        "match { _ => " * 120 + "1 # one\n" + "}" * 120,
        "xs.map(it => " * 120 + "1" + ")" * 120,
    ],
)
def test_deep_programs_can_be_formatted(value: str) -> None:
    formatted(f"emit a = {value}")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("emit a = " + "1 + if a then " * 126 + "1", id="nesting"),
        pytest.param("emit a = [" + f'"{"x" * 60}",' * 1030 + "]", id="size"),
    ],
)
def test_a_program_that_would_outgrow_the_parser_is_left_alone(text: str) -> None:
    assert formatted(f"{text} \n\n") == f"{text}\n"


# Properties


@settings(max_examples=300)
@given(trees.expressions(max_leaves=20))
def test_any_expression_reads_back(tree: ast.Expr) -> None:
    text = format_expression(tree)
    assert expression(text) == tree
    assert "\n" not in text


@settings(max_examples=300)
@given(trees.programs())
def test_any_program_reads_back(program: ast.Program) -> None:
    text = written(program)
    assert parsed(text).program == program
    assert formatted(text) == text


@settings(max_examples=300)
@given(trees.expressions())
def test_what_fits_stays_on_one_line(tree: ast.Expr) -> None:
    statement = f"emit x = {format_expression(tree)}\n"
    if len(statement) <= WIDTH + 1 and "match" not in statement:
        assert formatted(statement) == statement


GAPS = st.sampled_from(
    ["", "", "", "\n", "\n\n\n", " # {}\n", "\n-- {}\n", "\n\n  # {}\n\n", "# {0}\n# {0}'\n"]
)


@settings(max_examples=300)
@given(trees.programs(), st.lists(GAPS, min_size=1, max_size=9))
def test_comments_anywhere_are_kept(program: ast.Program, gaps: list[str]) -> None:
    tokens = tokenize(Source("program.cxl", written(program))).tokens
    pieces = zip(tokens, itertools.cycle(gaps), itertools.count(), strict=False)
    text = "".join(gap.format(f"note {index}") + "\t" + token.text for token, gap, index in pieces)
    assert parsed(text).program == program
    # A tab in the result would be one of the original text, given back unformatted.
    assert "\t" not in formatted(text)
