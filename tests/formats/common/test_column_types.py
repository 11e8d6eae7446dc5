"""How columns hold values of each type."""

from __future__ import annotations

import pytest

from clinker.cxl.types import (
    ANY,
    ARRAY,
    BOOL,
    DATE,
    DATETIME,
    FLOAT,
    INT,
    MAP,
    NULL,
    NUMERIC,
    STRING,
    array_of,
)
from clinker.formats.common.column_types import TAGGED, representation

FORMS = {
    "BIGINT": [INT, INT.nullable()],
    "DOUBLE": [FLOAT],
    "STRING": [STRING, ANY, NUMERIC, MAP, NULL, DATE | DATETIME],
    "BOOLEAN": [BOOL],
    "DATE": [DATE],
    "TIMESTAMP_NTZ": [DATETIME],
    "ARRAY<STRING>": [ARRAY, array_of(ANY), array_of(STRING), array_of(NUMERIC), array_of(MAP)],
    "ARRAY<BIGINT>": [array_of(INT.nullable())],
    "ARRAY<ARRAY<DATE>>": [array_of(array_of(DATE))],
}


@pytest.mark.parametrize("ddl", FORMS)
def test_forms(ddl: str) -> None:
    assert {representation(type_).ddl for type_ in FORMS[ddl]} == {ddl}


def test_only_what_has_several_kinds_is_tagged() -> None:
    assert representation(STRING) != TAGGED
    assert representation(ANY) == TAGGED
