"""Outputs of segments: whether their columns have a place there, and where their header is from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from clinker.config.formats.interchange import ELEMENT
from clinker.diagnostics import Diagnostic, Location
from clinker.diagnostics.suggest import did_you_mean
from clinker.plan.nodes import Planned, PlannedOutput, PlannedSource, Shape


def check_interchanges(nodes: Mapping[str, Planned]) -> list[Diagnostic]:
    """What is wrong with outputs of EDIFACT and X12, as far as the plan can tell."""
    findings: list[Diagnostic] = []
    for node in nodes.values():
        if isinstance(node, PlannedOutput):
            if node.node.config.format.segment_columns:
                findings += _check_columns(node)
            if node.node.config.header_section is not None:
                findings += _check_header(node, nodes)
    return findings


def _check_columns(output: PlannedOutput) -> Iterator[Diagnostic]:
    config = output.node.config
    own = config.format.segment_columns
    names = [column.name for column in (*output.columns, *output.metadata_columns)]
    for name in names:
        if not (name in own or name.startswith("$") or re.fullmatch(ELEMENT, name)):
            yield output.unit.problem(
                "E062",
                f"an {config.type} file has no place for the column '{name}'",
                _place_of(output, name),
                help=_suggest(name, own)
                or f"its columns are {', '.join(own)} and e01, e02, …: exclude others, or give "
                "them such a name with 'mapping'",
            )
    may_follow = config.include_unmapped and output.have_undeclared
    if own[0] not in names and not may_follow and not output.row.is_open:
        yield output.unit.problem(
            "E062",
            f"the output has no column '{own[0]}', which names the segments",
            config.at("type"),
            help=did_you_mean(own[0], names)
            or f"emit it: every record of an {config.type} file is a segment",
        )


def _place_of(output: PlannedOutput, name: str) -> Location:
    config = output.node.config
    return config.key_at("mapping", name) if name in config.mapping else config.at("type")


def _suggest(name: str, own: Iterable[str]) -> str | None:
    """What a name such as `e1` or `E01`, or a slip of the pen, should be."""
    if numbered := re.fullmatch(r"[eE]0*([1-9][0-9]{0,3})", name):
        return f"did you mean 'e{int(numbered[1]):02}'?"
    return did_you_mean(name, own)


def _check_header(output: PlannedOutput, nodes: Mapping[str, Planned]) -> Iterator[Diagnostic]:
    """Report unless all records come from documents with the header that is to be written."""
    config = output.node.config
    section = config.header_section
    assert section is not None
    sources = list(_record_sources(output, nodes))
    segment = config.format.header_segment
    headers = {source.name: _list_headers(source, segment) for source in sources}
    known = sorted({name for names in headers.values() for name in names})
    if not sources:
        message = "records behind an aggregate come from no interchange, so they have no header"
        help = "give the header with 'interchange'"
    elif section not in known:
        message = f"no source has a section '{section}' that is the header of an {config.type} file"
        help = did_you_mean(section, known) or (
            f'declare it in the envelope of the source: {{ extract: {{ segment: "{segment}" }} }}'
        )
    elif without := [name for name, names in headers.items() if section not in names]:
        message = f"records of source '{without[0]}' have no header '{section}' to write again"
        help = "give the header with 'interchange', or write them to an output of their own"
    else:
        return
    place = config.options.at("interchange_from_doc")
    yield output.unit.problem("E064", message, place, help=help)


def _record_sources(node: Planned, nodes: Mapping[str, Planned]) -> Iterable[PlannedSource]:
    """The sources whose records reach a node as they are, with the documents they stood in."""
    found: dict[str, PlannedSource] = {}
    ahead, seen = [node], set[str]()
    while ahead:
        each = ahead.pop()
        match each.shape:
            case Shape.READS:
                assert isinstance(each, PlannedSource)
                found[each.name] = each
            case Shape.GROUPS:
                pass
            case Shape.PASSES | Shape.MERGES | Shape.JOINS | Shape.WRITES:
                names = {edge.upstream for edge in each.passed_on} - seen
                seen |= names
                ahead += [nodes[name] for name in sorted(names) if name in nodes]
            case other:
                assert_never(other)
    return found.values()


def _list_headers(source: PlannedSource, segment: str | None) -> set[str]:
    config = source.node.config
    if config.envelope is None or config.format.header_segment != segment:
        return set()
    return set(config.envelope.sections)
