"""Abbreviations that are spelled out."""

from __future__ import annotations

from clinker.config.nodes import (
    AggregateNode,
    CombineNode,
    MergeNode,
    OutputNode,
    RouteNode,
    SourceNode,
    StateNode,
    TransformNode,
)
from tests.config.loading import accepted, load


def test_nodes_without_a_config_block() -> None:
    pipeline = accepted(
        load(
            """\
            pipeline: { name: p }
            nodes:
              - name: orders
                type: source
                format: csv
                path: orders.csv
                schema: { id: int }
              - { name: t, type: transform, input: orders, cxl: emit a = id }
              - name: a
                type: aggregate
                input: t
                group_by: [id]
                cxl: emit n = count(*)
              - { name: r, type: route, input: a, routes: { x: n > 1 }, default: y }
              - { name: m, type: merge, inputs: [r.x, r.y], mode: interleave }
              - name: c
                type: combine
                input: { m: m, o: orders }
                where: m.id == o.id
                cxl: emit id = m.id
                propagate_ck: all
              - { name: s, type: state, input: c, scope: record, set: [{ var: x, cxl: id }] }
              - { name: out, type: output, input: s, format: json, path: o.json }
            """
        )
    )
    kinds = [type(node) for node in pipeline.nodes]
    assert kinds == [
        SourceNode,
        TransformNode,
        AggregateNode,
        RouteNode,
        MergeNode,
        CombineNode,
        StateNode,
        OutputNode,
    ]
    source = pipeline.nodes[0]
    assert isinstance(source, SourceNode)
    assert source.config.type == "csv"
    assert source.config.at("path").start == (6, 11)
    assert source.config.key_at("type").start[0] == 5
