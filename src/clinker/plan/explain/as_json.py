"""A plan as JSON for programs; docs/explain/plan.schema.json describes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from clinker.cxl.run.window_spec import SortKey
from clinker.cxl.types import Type
from clinker.plan.analyses.ordering import AggregateStrategy
from clinker.plan.analyses.required import RequiredColumns
from clinker.plan.explain.facts import (
    CombineFacts,
    Facts,
    NodeFacts,
    OutputFacts,
    RouteFacts,
    StepFacts,
    TimeWindowFacts,
    WindowFacts,
)
from clinker.plan.explain.handoffs import HandOff
from clinker.plan.explain.storage import StagedSource, StorageFacts

SCHEMA_VERSION = "1"

Json = dict[str, Any]


def as_json(facts: Facts) -> str:
    document = {
        "schema_version": SCHEMA_VERSION,
        "pipeline": facts.pipeline,
        "channel": facts.channel or None,
        "compositions": dict(facts.compositions),
        "execution": {
            "mode": facts.mode,
            "arbitration": facts.arbitration,
            "memory_limit_bytes": facts.memory.limit,
            "threads": facts.memory.threads,
            "batch_size": facts.memory.batch_size,
            "chunk_size": facts.memory.chunk_size,
        },
        "nodes": [_node(facts, node) for node in facts.nodes],
        "node_properties": {node.name: _properties(node) for node in facts.nodes},
        "buffer_edges": [_edge(facts, edge) for edge in facts.buffer_edges],
        "dead_letters": dict(facts.dead_letters),
        "retraction": _retraction(facts),
        "storage_summary": _storage(facts.storage),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _types(columns: Mapping[str, Type]) -> list[Json]:
    return [{"name": name, "type": str(type_)} for name, type_ in columns.items()]


def _sort_order(keys: tuple[SortKey, ...]) -> list[Json]:
    return [
        {
            "field": key.field,
            "order": "desc" if key.descending else "asc",
            "nulls": "first" if key.nulls_first else "last",
        }
        for key in keys
    ]


# Nodes


def _node(facts: Facts, node: NodeFacts) -> Json:
    return {
        "index": node.index,
        "type": node.kind,
        "name": node.name,
        "display_name": node.label,
        "parallelism": node.operator.parallelism.value,
        "composition": node.call,
        "phase": "init" if node.is_init else "runtime",
        "depends_on": list(node.depends_on),
        "downstream": [_connection(out) for out in node.hand_offs],
        "columns": _types(node.columns),
        **_cxl(node),
        **_details(facts, node),
    }


def _connection(out: HandOff) -> Json:
    return {
        "node": out.consumer,
        "port": out.port,
        "qualifier": out.qualifier,
        "lookup": out.is_lookup,
        "crossing": out.crossing.value,
    }


def _cxl(node: NodeFacts) -> Json:
    if node.cxl is None:
        return {}
    return {
        "cxl": {
            "reads": _types(node.cxl.reads),
            "variables": list(node.cxl.variables),
            "writes": _types(node.cxl.writes),
            "can_fail": list(node.cxl.failures),
            "in_interpreter": list(node.interpreted),
        }
    }


def _details(facts: Facts, node: NodeFacts) -> Json:
    """What only nodes of some kinds have: whatever the facts say about this one."""
    details: Json = {}
    if node.required:
        details["required_columns"] = _required(node.required)
        details["sections"] = _types(node.sections)
    if node.service:
        details["service"] = dict(vars(node.service))
    if node.aggregate:
        details |= _aggregate(facts, node.name, node.aggregate)
    for window in facts.windows:
        if window.node == node.name:
            details["window"] = _window(window)
    for route in facts.routes:
        if route.node == node.name:
            details |= _route(route)
    for combine in facts.combines:
        if combine.node == node.name:
            details |= _combine(combine)
    for output in facts.outputs:
        if output.node == node.name:
            details |= _output(output)
    return details


def _required(required: RequiredColumns) -> Json:
    return {
        "for_results": list(required.for_results),
        "to_reject": list(required.to_reject),
        "undeclared": required.undeclared,
        "all_for_dead_letters": required.all_for_dead_letters,
    }


def _route(route: RouteFacts) -> Json:
    branches = [
        {"name": b.name, "condition": b.condition, "consumers": list(b.consumers)}
        for b in route.branches
    ]
    default = next(b.name for b in route.branches if b.condition is None)
    return {"mode": route.mode, "branches": branches, "default": default}


def _output(output: OutputFacts) -> Json:
    return {
        "path": output.path,
        "if_exists": output.if_exists,
        "write_meta": output.write_meta,
        "split": output.split,
    }


def _window(facts: WindowFacts) -> Json:
    window = facts.window
    return {
        "root": facts.root,
        "lookup": list(window.lookup) if window.lookup is not None else None,
        "group_by": list(window.spec.group_by),
        "sort_by": _sort_order(window.spec.sort_by),
        "frame": facts.frame,
        "fields": list(window.reads),
        "already_sorted": window.already_sorted,
        "buffered": window.buffered,
    }


def _aggregate(facts: Facts, name: str, strategy: AggregateStrategy) -> Json:
    timed = next((w for w in facts.time_windows if w.node == name), None)
    return {
        "strategy": strategy.chosen.value,
        "requested_strategy": strategy.requested,
        "strategy_reason": strategy.reason,
        "skipped_streaming_available": strategy.missed_streaming,
        "qualified_sort_order": _sort_order(strategy.sorted_by),
        "time_window": _time_window(timed) if timed else None,
    }


def _time_window(window: TimeWindowFacts) -> Json:
    return {
        "shape": window.shape,
        "allowed_lateness": window.allowed_lateness,
        "watermarks": dict(window.watermarks),
    }


def _combine(combine: CombineFacts) -> Json:
    steps, keys = combine.steps, combine.propagate_ck
    return {
        "driving_input": combine.driver,
        "build_inputs": [step.build for step in steps],
        "inputs": {
            qualifier: {
                "node": node,
                "role": "driver" if qualifier == combine.driver else "build",
            }
            for qualifier, node in combine.inputs.items()
        },
        "predicate_summary": {
            "equalities": sum(len(step.equalities) for step in steps),
            "ranges": sum(len(step.ranges) for step in steps),
            "has_residual": any(step.residuals for step in steps),
        },
        "steps": [_step(step) for step in steps],
        "match_mode": combine.match,
        "on_miss": combine.on_miss,
        "propagate_ck": keys if isinstance(keys, str) else list(keys),
    }


def _step(step: StepFacts) -> Json:
    def compared(kind: str) -> list[Json]:
        return [
            {"left": each.probe, "op": each.op, "right": each.build} for each in getattr(step, kind)
        ]

    return {
        "build": step.build,
        "strategy": step.strategy,
        "spark": step.on_spark,
        "equalities": compared("equalities"),
        "ranges": compared("ranges"),
        "residuals": list(step.residuals),
    }


# Properties


def _properties(node: NodeFacts) -> Json:
    volume = node.volume
    return {
        "ordering": {
            "sort_order": _sort_order(node.ordering.keys),
            "provenance": [step.text for step in node.ordering.history],
        },
        "partitioning": {
            "kind": "per_file" if node.partitioning.per_file else "single",
            "provenance": node.partitioning.provenance,
        },
        "ck_set": list(node.keys),
        "buffer": node.buffer,
        "spill_priority": node.operator.spill_priority,
        "can_back_pressure": node.can_back_pressure,
        "estimated_bytes": volume.peak,
        "predicted_peak_bytes": volume.peak or 0,
        "predicted_freed_bytes_on_complete": volume.freed,
        "predicted_subtree_reclaim_bytes": volume.subtree_reclaim,
    }


def _edge(facts: Facts, edge: HandOff) -> Json:
    return {
        "slot": edge.slot,
        "from": facts.node(edge.producer).slug,
        "to": facts.node(edge.consumer).slug,
        "port": edge.port,
        "crossing": edge.crossing.value,
        "reason": edge.reason,
        "predicted_peak_bytes": facts.node(edge.producer).volume.peak or 0,
    }


def _retraction(facts: Facts) -> Json | None:
    retraction = facts.retraction
    if retraction is None:
        return None
    return {
        "fanout_policy": retraction.fanout_policy,
        "own_fanout_policies": dict(retraction.own_policies),
        "aggregates": [
            {
                "node_name": each.node,
                "accumulators": each.retraction.value,
                "omitted": list(each.omitted),
                "synthetic_ck": each.synthetic_key,
            }
            for each in retraction.aggregates
        ],
        "windows": [
            {
                "node_name": each.node,
                "source": each.root,
                "partition_by": list(each.partition_by),
                "fields": list(each.fields),
            }
            for each in retraction.windows
        ],
    }


# Storage


def _storage(storage: StorageFacts) -> Json:
    headroom = storage.headroom
    summary: Json = {
        "spill_root": {
            "path": storage.spill_dir,
            "source": storage.spill_dir_origin,
        },
        "spill_disk_cap_bytes": storage.disk_cap,
        "estimated_spill": {
            "per_stage": [
                {
                    "node_name": node.node,
                    "display_name": node.label,
                    "estimate_bytes": node.estimate,
                }
                for node in storage.spilling
            ],
            "total_known_bytes": storage.total_known,
            "any_unknown": storage.any_unknown,
        },
        "spill_compression": {
            "mode": storage.compress,
            "per_operator": [
                {
                    "node_name": node.node,
                    "display_name": node.label,
                    "compression": "lz4" if node.compressed else "off",
                }
                for node in storage.spilling
            ],
        },
    }
    if headroom:
        summary["cap_headroom"] = {
            "headroom_bytes": headroom.left,
            "estimated_bytes": headroom.estimate,
            "cap_bytes": headroom.cap,
            "pct_of_cap": headroom.percent,
            "over_threshold": headroom.is_tight,
        }
    summary["staging"] = {
        "enabled": storage.staging is not None,
        "sources": [_staged(source) for source in storage.staging or ()],
    }
    return summary


def _staged(source: StagedSource) -> Json:
    return {
        "source": source.source,
        "network": source.is_network,
        "files": [
            {
                "file": file.file,
                "staged": file.copy is not None,
                "path": file.copy,
                "reuse": file.reuse,
            }
            for file in source.files
        ],
    }
