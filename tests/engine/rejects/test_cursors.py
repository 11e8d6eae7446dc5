"""Cursors: the last record of each source that was not rejected."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from clinker.engine.reading import inputs
from tests.engine.whole_runs import Workplace


@pytest.fixture(params=["driver", "workers"], autouse=True)
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "workers":
        monkeypatch.setattr(inputs, "SMALL_INPUT", -1)


def cursors(workplace: Workplace, handling: str = "") -> Mapping[str, int | None]:
    """The cursors of two sources: one of two files, one without a key."""
    ran = workplace.run(
        f"""
pipeline: {{ name: p }}
error_handling: {{ strategy: continue, dlq: {{ path: dlq.csv }}{handling} }}
nodes:
  - type: source
    name: lines
    config: {{ type: csv, paths: [a.csv, b.csv], correlation_key: id,
      schema: {{ id: string, n: int }} }}
  - {{ type: source, name: others, config: {{ type: csv, path: c.csv, schema: {{ n: int }} }} }}
  - {{ type: transform, name: t, input: lines, config: {{ cxl: emit r = 1 / n }} }}
  - {{ type: output, name: o, input: t, config: {{ type: csv, path: o.csv }} }}
  - {{ type: output, name: p, input: others, config: {{ type: csv, path: p.csv }} }}
"""
    )
    assert ran.report, ran.message
    return {source.name: source.rollback_cursor for source in ran.report.sources}


def test_all_records_if_none_is_rejected(workplace: Workplace) -> None:
    workplace.write(a_csv="id,n\nA,1\nB,1\n", b_csv="id,n\nA,2\n", c_csv="n\n1\n2\n")
    assert cursors(workplace) == {"lines": 3, "others": 2}


def test_rows_count_over_all_files(workplace: Workplace) -> None:
    a, b = "id,n\nA,1\nB,0\nC,1\n", "id,n\nD,1\nE,0\nD,2\nE,3\n"
    workplace.write(a_csv=a, b_csv=b, c_csv="n\n1\nx\n")
    # The last line falls with that before; the one before them is the sixth of both files.
    assert cursors(workplace) == {"lines": 6, "others": 1}


def test_a_source_of_which_nothing_is_left_has_none(workplace: Workplace) -> None:
    workplace.write(a_csv="id,n\nA,1\nA,0\n", b_csv="id,n\n", c_csv="n\n")
    assert cursors(workplace) == {"lines": None, "others": None}


def test_a_group_that_is_too_large_takes_it_back_to_its_beginning(workplace: Workplace) -> None:
    a, b = "id,n\nA,1\nB,1\nC,1\n", "id,n\nB,1\nB,2\nD,1\n"
    workplace.write(a_csv=a, b_csv=b, c_csv="n\n1\n")
    assert cursors(workplace, ", max_group_buffer: 2") == {"lines": 2, "others": 1}
