"""The columns of a source."""

from __future__ import annotations

import pytest

from clinker.cxl.types import ANY, DATE, DATETIME, FLOAT, INT, NUMERIC, STRING
from tests.config.loading import accepted_config, brief, load_config


def test_schema_as_a_list_or_a_mapping() -> None:
    listed = accepted_config(
        "source",
        """\
        type: csv
        path: a
        schema:
          - { name: a, type: int, required: true }
          - { name: b, type: nullable(string), long_unique: true }
          - { name: c, type: { nullable: float } }
          - { name: d, type: datetime }
          - { name: e, type: numeric }
          - { name: a.b, type: any }
        """,
    )
    assert [(c.name, c.type) for c in listed.columns] == [
        ("a", INT),
        ("b", STRING.nullable()),
        ("c", FLOAT.nullable()),
        ("d", DATETIME),
        ("e", NUMERIC),
        ("a.b", ANY),
    ]
    assert listed.columns[0].required
    assert listed.columns[1].long_unique
    mapped = accepted_config(
        "source",
        """\
        type: csv
        path: a
        schema:
          a: int
          name: nullable(float)
          type: { nullable: date_time }
          d: { type: date, required: true }
        """,
    )
    assert [(c.name, c.type, c.required) for c in mapped.columns] == [
        ("a", INT, False),
        ("name", FLOAT.nullable(), False),
        ("type", DATETIME.nullable(), False),
        ("d", DATE, True),
    ]
    assert mapped.columns[1].at("name").start == (11, 9)
    assert mapped.columns[1].at("type").start == (11, 15)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            "type: csv\npath: a\nschema:\n  - { name: a, type: itn }\n  - { name: b, tpye: int }\n"
            "  - { name: c, type: string, required: 1 }",
            [
                "E014 10:28 unknown column type 'itn'",
                "E005 11:22 unknown key 'tpye'",
                "E007 12:46 expected true or false, found integer 1",
            ],
        ),
        (
            "type: csv\npath: a\nschema: { a: int, b: nullable(strin), c: { nullable: x } }",
            [
                "E014 9:28 unknown column type 'nullable(strin)'",
                "E014 9:48 unknown column type 'x'",
            ],
        ),
        (
            "type: csv\npath: a\nschema:\n  - { name: a, type: int }\n  - { name: a, type: int }",
            ["E015 11:19 column 'a' is declared twice"],
        ),
        (
            "type: csv\npath: a\n"
            "schema: { $pos: int, $1: int, $ck.a: int, $ b: int, $C: int, d$: int }",
            [
                "E017 9:17 column '$pos' has a name that is kept for the engine",
                "E017 9:28 column '$1' has a name that is kept for the engine",
                "E017 9:37 column '$ck.a' has a name that is kept for the engine",
            ],
        ),
    ],
)
def test_diagnostics(config: str, expected: list[str]) -> None:
    assert brief(load_config("source", config).diagnostics) == expected
