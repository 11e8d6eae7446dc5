"""Runs that read from web services."""

from __future__ import annotations

import pytest

from tests.engine.whole_runs import Workplace
from tests.web import json_reply, paged, serving

ORDERS = [{"id": number, "amount": number * 1.5} for number in range(1, 8)]


def pipeline(url: str, transport: str = "", source: str = "", cxl: str = "emit n = id") -> str:
    return f"""
pipeline: {{ name: p }}
error_handling: {{ strategy: continue, dlq: {{ path: dlq.csv }} }}
nodes:
  - type: source
    name: orders
    config:
      type: json
      transport: {{ kind: rest, url: '{url}', max_pages: 20, {transport} }}
      schema: {{ id: int, amount: float }}
      {source}
  - {{ type: transform, name: t, input: orders, config: {{ cxl: '{cxl}' }} }}
  - {{ type: output, name: o, input: t, config: {{ type: csv, path: out.csv }} }}
"""


def test_an_array_of_one_page(workplace: Workplace) -> None:
    with serving([json_reply(ORDERS[:2])]) as service:
        ran = workplace.run(pipeline(service.url))
    assert (ran.code, ran.message) == (0, "")
    assert workplace.read("out.csv") == "id,amount,n\n1,1.5,1\n2,3,2\n"
    assert [request.path for request in service.requests] == ["/orders"]


@pytest.mark.parametrize(
    ("path", "transport", "source"),
    [
        ("/offset", "pagination: { strategy: offset, limit: 3 }", ""),
        (
            "/cursor",
            "pagination: { strategy: cursor_token, cursor_param: at, "
            "next_token_pointer: /meta/next }",
            "options: { record_path: orders }",
        ),
        ("/link", "pagination: { strategy: link_header }", ""),
    ],
)
def test_rows_are_numbered_through(
    workplace: Workplace, either_way: str, path: str, transport: str, source: str
) -> None:
    cxl = 'emit at = $source.file + "#" + $source.row.to_string()'
    with serving(paged(ORDERS, 3)) as service:
        url = f"http://{service.host}{path}"
        ran = workplace.run(pipeline(url, transport, source, cxl))
    assert (ran.code, ran.message) == (0, "")
    lines = workplace.read("out.csv").splitlines()[1:]
    assert [line.split(",")[2] for line in lines] == [f"<source:orders>#{n}" for n in range(1, 8)]
