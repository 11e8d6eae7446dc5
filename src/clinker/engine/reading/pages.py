"""The pages of a web service, fetched once and before anything is computed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from clinker.config.transport import RestTransport
from clinker.cxl.failure import printable
from clinker.cxl.syntax.ast import TraceLevel
from clinker.diagnostics.addresses import mask
from clinker.engine.report.facts import Exit, RunError
from clinker.engine.run.observer import Observer
from clinker.formats.files.rest.fetching import Endpoint, FetchError
from clinker.formats.files.rest.paging import Page
from clinker.formats.files.spool import Spool
from clinker.formats.reading import (
    FormatError,
    InputFile,
    ReadSpec,
    count_records,
    input_file,
    take_inventory,
)
from clinker.plan.graph.graph import Unit


def name_service(source: str) -> str:
    """What stands for the file of records that are in none."""
    return f"<source:{source}>"


def fetch_pages(
    unit: Unit,
    transport: RestTransport,
    spec: ReadSpec,
    spool: Spool,
    observer: Observer,
    sample: int | None,
) -> list[InputFile]:
    """The pages of a source as files, as many as are wanted; `RunError` if one cannot be had.

    `sample` is how many records are wanted at most, if not all of them.
    """
    try:
        return _fetch(unit, transport, spec, spool, observer, sample)
    except FetchError as problem:
        raise _no_page(unit, transport, problem.message, problem.help) from None
    except FormatError as problem:
        raise _no_page(unit, transport, str(problem), problem.help) from None


def _fetch(
    unit: Unit,
    transport: RestTransport,
    spec: ReadSpec,
    spool: Spool,
    observer: Observer,
    sample: int | None,
) -> list[InputFile]:
    pages: list[InputFile] = []
    most = transport.max_records
    records = 0
    with Endpoint(transport, unit.name, spool) as endpoint:
        while endpoint.has_more:
            if len(pages) == transport.max_pages:
                observer.warned(_ended(unit, f"max_pages: {len(pages)}"))
                break
            page = endpoint.fetch()
            file = _as_file(page, unit.name)
            pages.append(file)
            count = _count_records(spec, file)
            records += count
            observer.logged(TraceLevel.INFO, _describe(page, count), unit.name)
            if sample is not None and records >= sample:
                break
            endpoint.look_for_next(page, partial(_count_elements, spec, file, count))
            if most is not None and records >= most:
                if records > most or endpoint.has_more:
                    observer.warned(_ended(unit, f"max_records: {most}"))
                break
    return pages


def _as_file(page: Page, source: str) -> InputFile:
    shown = f"page {page.number} of {name_service(source)}"
    return input_file(page.number - 1, str(page.body), shown, page_of=0)


def _describe(page: Page, records: int) -> str:
    read = "1 record" if records == 1 else f"{records} records"
    return f"page {page.number} of {mask(page.asked)}: {read}, {page.size} bytes"


def _ended(unit: Unit, limit: str) -> str:
    return f"'{unit.name}' stopped at {limit}, though the service has more"


def _count_records(spec: ReadSpec, page: InputFile) -> int:
    """How many records a page has; FormatError if it is no document of its format."""
    alone = replace(page, index=0)
    inventory = take_inventory(spec, [alone], max(1, alone.size))
    return sum(count_records(spec, inventory, split) for split in inventory.splits)


def _count_elements(spec: ReadSpec, page: InputFile, records: int) -> int:
    """How many records a page has before arrays in them are unfolded, as its service counts."""
    return _count_records(replace(spec, array_paths=()), page) if spec.array_paths else records


def _no_page(unit: Unit, transport: RestTransport, problem: str, help: str | None) -> RunError:
    message = printable(f"source '{unit.name}': {problem}")
    diagnostic = unit.problem("E221", message, transport.at("url"), help=help)
    return RunError(message, Exit.IO, [diagnostic], help)
