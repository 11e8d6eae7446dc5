"""Methods of every value: names of types, emptiness, and the types of what passes through."""

from __future__ import annotations

import datetime as dt
import math

import pytest

from clinker.cxl.builtins.declare import METHODS
from clinker.cxl.builtins.introspection import catch, debug, is_empty, is_null, type_of
from clinker.cxl.types import ANY, FLOAT, INT, NULL, STRING, Type
from clinker.cxl.values import Value


@pytest.mark.parametrize(
    ("value", "name", "empty"),
    [
        (None, "Null", True),
        (False, "Bool", False),
        (0, "Int", False),
        (math.nan, "Float", False),
        ("", "String", True),
        ("\u00a0", "String", False),
        (dt.date.min, "Date", False),
        (dt.datetime.min, "DateTime", False),
        ([], "Array", True),
        ([None], "Array", False),
        ({}, "Map", False),
    ],
)
def test_every_kind(value: Value, name: str, empty: bool) -> None:
    assert type_of(value) == name
    assert is_null(value) is (value is None)
    assert is_empty(value) is empty
    assert debug(value, None) is value
    assert catch(value, "fallback") is ("fallback" if value is None else value)


@pytest.mark.parametrize(
    ("receiver", "fallback", "expected"),
    [
        (STRING, STRING, STRING),
        (STRING, NULL, STRING.nullable()),
        (STRING.nullable(), STRING, STRING),
        (INT, FLOAT, FLOAT),
        (NULL, STRING, STRING),
        (NULL, NULL, NULL),
        (INT, STRING, INT | STRING),
        (ANY, STRING, ANY.without_null()),
    ],
)
def test_type_of_catch(receiver: Type, fallback: Type, expected: Type) -> None:
    assert METHODS["catch"][0].result_type(receiver, (fallback,)) == expected


def test_debug_may_pass_a_null_through() -> None:
    assert METHODS["debug"][0].result_type(INT.nullable(), (STRING,)) == INT.nullable()


@pytest.mark.parametrize("name", ["type_of", "is_null", "is_empty", "catch", "debug"])
def test_null_reaches_these_methods(name: str) -> None:
    (declared,) = METHODS[name]
    assert declared.takes_null
    assert all(param.takes_null for param in declared.params)
