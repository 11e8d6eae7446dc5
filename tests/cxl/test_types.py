"""Types that meet, and types as users write them."""

from __future__ import annotations

import pytest

from clinker.cxl.types import (
    ANY,
    DATE,
    DATETIME,
    FLOAT,
    INT,
    NUMERIC,
    Type,
    array_of,
    parse_type,
    unify,
)


@pytest.mark.parametrize(
    ("a", "b", "both"),
    [
        (INT, INT, INT),
        (INT, FLOAT, FLOAT),
        (NUMERIC, INT, NUMERIC),
        (INT.nullable(), FLOAT, FLOAT.nullable()),
        (DATE, DATETIME, DATETIME),
        (ANY, INT, ANY),
        (array_of(INT), array_of(FLOAT), array_of(NUMERIC)),
    ],
)
def test_unification(a: Type, b: Type, both: Type) -> None:
    assert unify(a, b) == both == unify(b, a)


@pytest.mark.parametrize(
    ("text", "type_"),
    [("int", INT), ("nullable(date)", DATE.nullable()), ("date_time", DATETIME), ("text", None)],
)
def test_schema_types(text: str, type_: Type | None) -> None:
    assert parse_type(text) == type_
