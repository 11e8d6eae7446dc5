"""Runs that read from web services."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.plan.options import Preview
from tests.engine.whole_runs import Workplace
from tests.web import Reply, json_reply, paged, serving

ORDERS: list[dict[str, object]] = [{"id": number, "amount": number * 1.5} for number in range(1, 8)]


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


LINKS = "pagination: { strategy: link_header }"


def test_no_more_records_than_wanted(workplace: Workplace, either_way: str) -> None:
    with serving(paged(ORDERS, 3)) as service:
        url = f"http://{service.host}/link"
        ran = workplace.run(pipeline(url, f"max_records: 5, {LINKS}"))
    assert (ran.code, ran.message) == (0, "")
    assert ran.report
    assert ran.report.sources[0].records == 5
    assert ran.report.sources[0].files == ()
    assert [line.split(",")[0] for line in workplace.read("out.csv").splitlines()[1:]] == [*"12345"]
    assert len(service.requests) == 2
    assert ran.warnings == ["'orders' stopped at max_records: 5, though the service has more"]


def test_no_more_pages_than_allowed(workplace: Workplace) -> None:
    with serving(paged(ORDERS, 1)) as service:
        text = pipeline(f"http://{service.host}/link", LINKS).replace("pages: 20", "pages: 3")
        ran = workplace.run(text)
    assert (ran.code, len(service.requests)) == (0, 3)
    assert ran.warnings == ["'orders' stopped at max_pages: 3, though the service has more"]


def test_a_preview_fetches_what_it_shows(workplace: Workplace) -> None:
    with serving(paged(ORDERS, 2)) as service:
        preview = Preview(3)
        ran = workplace.run(pipeline(f"http://{service.host}/link", LINKS), preview=preview)
    assert ran.report
    assert ran.report.outputs[0].preview == b"id,amount,n\n1,1.5,1\n2,3,2\n3,4.5,3\n"
    assert len(service.requests) == 2


def test_rejected_records_of_later_pages(workplace: Workplace, either_way: str) -> None:
    records: list[dict[str, object]] = [
        *ORDERS,
        {"id": "eight", "amount": 1},
        {"id": 9, "amount": 0},
    ]
    with serving(paged(records, 3)) as service:
        cxl = "emit x = 10 / id.to_float() / amount"
        ran = workplace.run(pipeline(f"http://{service.host}/link", LINKS, cxl=cxl))
    assert (ran.code, ran.message) == (2, "")
    header, *entries = (line.split(",") for line in workplace.read("dlq.csv").splitlines())
    columns = ["_cxl_dlq_source_file", "_cxl_dlq_source_row", "id"]
    places = [header.index(name) for name in columns]
    assert [[entry[at] for at in places] for entry in entries] == [
        ["<source:orders>", "8", "eight"],
        ["<source:orders>", "9", "9"],
    ]


def test_offsets_count_what_the_service_counts(workplace: Workplace) -> None:
    """Not what becomes of it when arrays are unfolded."""
    records = [{"id": n, "lines": [{"amount": 1}] * n} for n in (0, 1, 3, 2)]
    with serving(paged(records, 2)) as service:
        pages = "pagination: { strategy: offset, limit: 2 }"
        source = "array_paths: [{ path: lines }]"
        ran = workplace.run(pipeline(f"http://{service.host}/offset", pages, source))
    assert (ran.code, ran.message) == (0, "")
    assert [request.parameters["offset"] for request in service.requests] == ["0", "2", "4"]
    assert len(workplace.read("out.csv").splitlines()) == 1 + 6


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply(b"[{]"), "page 1 of <source:orders>"),
        (Reply(b"<html>"), "page 1 of <source:orders>: JSON records begin with"),
        (Reply(status=500), "gave status 500"),
        (json_reply([1]), "page 1 of <source:orders>: element 1 of the array is no object"),
    ],
)
def test_pages_that_cannot_be_read(workplace: Workplace, reply: Reply, message: str) -> None:
    with serving(lambda _: reply) as service:
        ran = workplace.run(pipeline(service.url, "retries: 0"))
    assert ran.code == 4
    assert message in ran.message
    assert workplace.files() == []


def test_lines_that_are_no_records(workplace: Workplace) -> None:
    with serving([Reply(b'{"id": 1}\nnonsense\n{"id": 3}\n')]) as service:
        ran = workplace.run(pipeline(service.url, source="options: { format: ndjson }"))
    assert ran.code == 2
    assert "nonsense" in workplace.read("dlq.csv")
    assert len(workplace.read("out.csv").splitlines()) == 3


def test_one_output_for_all_pages(workplace: Workplace, either_way: str) -> None:
    with serving(paged(ORDERS, 3)) as service:
        text = pipeline(f"http://{service.host}/link", LINKS)
        ran = workplace.run(text.replace("path: out.csv", "path: 'out-{source_file}.csv'"))
    assert (ran.code, ran.message) == (0, "")
    assert workplace.files() == ["out-<source:orders>.csv"]
    assert len(workplace.read("out-<source:orders>.csv").splitlines()) == 8


def test_nothing_stays_in_the_spool(
    workplace: Workplace, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder: Path = tmp_path_factory.mktemp("spill")
    workplace.write(clinker_toml=f"[storage.spill]\ndir = '{folder}'\ndisk_cap_bytes = 100\n")
    with serving(paged(ORDERS, 3)) as service:
        ran = workplace.run(pipeline(f"http://{service.host}/link", LINKS))
    assert (ran.code, ran.codes) == (4, ["E221"])
    assert "page 2 of" in ran.message
    assert "storage.spill.disk_cap_bytes" in ran.message
    assert list(folder.iterdir()) == []
