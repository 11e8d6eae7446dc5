"""Whole runs in another language than English."""

from __future__ import annotations

import pytest

from .whole_runs import Workplace

ORDERS = (
    "id,ordered,paid\n"
    "1,15. März 2024,Mo. 18-Mär-24\n"
    "2,1. OKT 2024,Mi 02-okt.-24\n"
    "3,5. Mai 2024,Tue 07-May-24\n"
    "4,5. May 2024,Di 07-Mai-24\n"
)
COMPOSITION = """
_compose:
  name: named
  inputs: { given: { schema: [{ name: ordered, type: date }] } }
  outputs: { shown: called }
nodes:
  - type: transform
    name: called
    input: given
    config: { cxl: 'emit weekday = ordered.format("%A")' }
"""
PIPELINE = """
    pipeline: { name: p, date_locale: de_DE, date_formats: ["%d. %B %Y"], rules_path: rules }
    error_handling: { strategy: continue, dlq: { path: dead.csv } }
    nodes:
      - type: source
        name: orders
        config:
          type: csv
          path: orders.csv
          schema: { id: int, ordered: date, paid: string }
      - type: transform
        name: read
        input: orders
        config:
          cxl: |
            use dates as d
            emit month = d::month_of(ordered)
            emit paid = paid.to_date("%a %d-%b-%y")
      - { type: composition, name: c, input: read, use: named.comp.yaml, inputs: { given: read } }
      - { type: output, name: out, input: c.shown, config: { type: csv, path: out.csv } }
"""


@pytest.mark.usefixtures("either_way")
def test_dates_in_german(workplace: Workplace) -> None:
    workplace.write(orders_csv=ORDERS)
    (workplace.folder / "named.comp.yaml").write_text(COMPOSITION)
    (workplace.folder / "rules").mkdir()
    rules = workplace.folder / "rules" / "dates.cxl"
    rules.write_text('fn month_of(day) = day.format_date("%b / %B")\n')
    assert workplace.run(PIPELINE).code == 2
    assert workplace.read("out.csv").splitlines() == [
        "id,ordered,paid,month,weekday",
        "1,2024-03-15,2024-03-18,März / März,Freitag",
        "2,2024-10-01,2024-10-02,Okt. / Oktober,Dienstag",
    ]
    _, *entries = workplace.read("dead.csv").splitlines()
    assert ["cannot convert 'Tue 07-May-24' to Date" in entry for entry in entries] == [True, False]
    assert "5. May 2024" in entries[1]
    assert len(entries) == 2
