"""Documents: what of the envelopes around records anything downstream needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clinker.config.nodes import OutputNode
from clinker.cxl.check import typed
from clinker.plan.graph.graph import Graph
from clinker.plan.nodes import Planned, Shape


def plan_documents(graph: Graph, nodes: Mapping[str, Planned]) -> dict[str, tuple[str, ...]]:
    """By source, what is wanted of its documents, in order.

    That is `section.field` for what programs read as `$doc`, and `section` alone for a header that
    an output writes again.
    """
    wanted: dict[str, set[str]] = {
        name: set() for name, node in nodes.items() if node.shape is Shape.READS
    }
    for name, node in nodes.items():
        read = set(_read_by(node))
        for source in wanted.keys() & {name, *graph.ancestors(name)}:
            wanted[source] |= read & _offered_by(nodes[source])
    return {source: tuple(sorted(keys)) for source, keys in wanted.items()}


def _read_by(node: Planned) -> Iterator[str]:
    cxl = node.cxl
    for expression in (*cxl.incoming, *cxl.outgoing) if cxl else ():
        for part in expression.walk():
            if isinstance(part, typed.System) and part.namespace == "doc":
                yield ".".join(part.path)
    if isinstance(node.node, OutputNode):
        section = node.node.config.header_section
        if section is not None:
            yield section


def _offered_by(source: Planned) -> set[str]:
    """The fields of a source's documents, and the sections whose whole header can be had.

    Files of a format without sections have nothing, whatever their source declares.
    """
    assert source.shape is Shape.READS
    config = source.node.config
    offered = set(source.sections) if config.format.extract_rule else set()
    if config.envelope and config.format.header_segment:
        offered |= config.envelope.sections.keys()
    return offered
