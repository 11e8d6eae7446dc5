"""Names for shared values: which texts get one, and in which order they are computed."""

from __future__ import annotations

import datetime as dt

from clinker.cxl.check import typed
from clinker.cxl.types import INT
from clinker.engine.expressions import Columns, ForeignColumns, Layer, Scope
from clinker.engine.expressions.foreign import Foreign, Read


def selections(layers: list[Layer]) -> list[list[str]]:
    return [
        sorted(f"{text} AS {name}" for name, text in layer.definitions.items())
        for layer in layers
        if isinstance(layer, Columns)
    ]


def test_names_and_literals_need_no_name() -> None:
    scope = Scope()
    for text in (
        "`a`",
        "`a b``c`",
        "`l`.`x`",
        r"'it\'s'",
        "5L",
        "-1.5e-7D",
        "TRUE",
        "DATE'2024-01-01'",
        "CAST(NULL AS ARRAY<BIGINT>)",
    ):
        assert scope.bind(text) == text
    assert scope.layers("`a`") == []


def test_names_that_users_write_are_none_of_the_scope() -> None:
    scope = Scope()
    a = scope.bind("f(`x`)")
    b = scope.bind("g(```$1```, '\\u0060\\u00241\\u0060')")
    assert selections(scope.layers(b)) == [[f"g(```$1```, '\\u0060\\u00241\\u0060') AS {b}"]]
    assert selections(scope.layers(f"h({a}, {b})")) == [
        [f"f(`x`) AS {a}", f"g(```$1```, '\\u0060\\u00241\\u0060') AS {b}"]
    ]


def test_equal_texts_share_a_name() -> None:
    scope = Scope()
    assert scope.bind("upper(`a`)") == scope.bind("upper(`a`)") == "`$1`"
    assert scope.bind("lower(`a`)") == "`$2`"
    assert selections(scope.layers("`$1` || `$2`")) == [
        ["lower(`a`) AS `$2`", "upper(`a`) AS `$1`"]
    ]


def test_a_layer_uses_only_earlier_ones() -> None:
    scope = Scope()
    a = scope.bind("f(`a`)")
    b = scope.bind(f"g({a}, {a})")
    c = scope.bind(f"h({a}, {b}, {b})")
    assert selections(scope.layers(c, b)) == [
        ["f(`a`) AS `$1`"],
        ["g(`$1`, `$1`) AS `$2`"],
        ["h(`$1`, `$2`, `$2`) AS `$3`"],
    ]


def test_what_is_not_used_is_not_computed() -> None:
    scope = Scope()
    scope.bind("f(`a`)")
    b = scope.bind("g(`a`)")
    assert selections(scope.layers(b)) == [["g(`a`) AS `$2`"]]


def test_what_is_used_once_is_written_in_place() -> None:
    scope = Scope()
    a = scope.bind("f(`a`)")
    b = scope.bind(f"g({a})")
    assert selections(scope.layers(f"{b} + {b}")) == [["g((f(`a`))) AS `$2`"]]


def test_what_is_used_for_each_element_is_computed_once() -> None:
    scope = Scope()
    a = scope.bind("f(`a`)")
    b = scope.bind(f"transform(`b`, x -> x + {a})")
    assert selections(scope.layers(b)) == [
        ["f(`a`) AS `$1`"],
        ["transform(`b`, x -> x + `$1`) AS `$2`"],
    ]


def test_inside_a_lambda_only_what_does_not_depend_on_it_is_a_column() -> None:
    scope = Scope()

    def body(x: str) -> str:
        outside, inside = scope.bind("f(`a`)"), scope.bind(f"g({x})")
        return f"h({outside}, {inside}, {inside})"

    text = scope.over("`b`", "transform", body)
    assert text == (
        "transform(`b`, `$1` -> transform(array(g(`$1`)), `$3` -> h(`$2`, `$3`, `$3`))[0])"
    )
    assert selections(scope.layers(text)) == [["f(`a`) AS `$2`"]]


def test_foreign_columns_come_between_what_they_use_and_what_uses_them() -> None:
    scope = Scope()
    a = scope.bind("f(`a`)")
    value, fails = scope.new_name(), scope.new_name()
    symbol = typed.Symbol("a", INT, typed.Role.LET)
    work = Foreign(value, fails, (Read(symbol, a, INT),), dt.datetime(2024, 1, 1))
    scope.add_foreign(work)
    b = scope.bind(f"g({value}, {value})")
    first, second, third = scope.layers(b, fails)
    assert first == Columns({"`$1`": "f(`a`)"})
    assert second == ForeignColumns((work,))
    assert third == Columns({b: f"g({value}, {value})"})


def test_no_name_is_given_that_a_column_has() -> None:
    scope = Scope(["id", "$2", "$order.turn", "$7x"])
    assert scope.bind("a + b") == "`$3`"
