"""A plan as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clinker.cxl.failure import printable
from clinker.cxl.types import Type
from clinker.plan.analyses.ordering import key_text
from clinker.plan.explain.facts import (
    CombineFacts,
    ComparisonFacts,
    Facts,
    NodeFacts,
    RetractionFacts,
    ServiceFacts,
    StepFacts,
    TimeWindowFacts,
    WindowFacts,
)
from clinker.plan.explain.handoffs import HandOff
from clinker.plan.explain.storage import Headroom, StagedFile, StorageFacts

_UNITS = (("G", 2**30), ("M", 2**20), ("K", 2**10))


def as_text(facts: Facts) -> str:
    sections = (
        _topology(facts),
        _titled("Resolved Outputs", _resolved_outputs(facts)),
        _titled("Execution Plan", _execution_plan(facts)),
        _titled("Schemas", _schemas(facts)),
        _titled("Physical Properties", _stanzas(_properties(node) for node in facts.nodes)),
        _titled("Buffer Edges", _stanzas(_edge(facts, edge) for edge in facts.buffer_edges)),
        _titled("Estimated Spill Volume", _spill_volume(facts.storage)),
        _titled("Routes", _routes(facts)),
        _titled("Combines", _stanzas(_combine(combine) for combine in facts.combines)),
        _titled("Windows", _windows(facts)),
        _titled("Retraction", _retraction(facts.retraction) if facts.retraction else iter(())),
        _titled("CXL", _stanzas(_cxl(node) for node in facts.nodes if node.cxl)),
        _titled("Memory Budget", _memory(facts)),
        _titled("Storage", _storage(facts.storage)),
        _titled("Staging Plan", _staging(facts.storage)),
    )
    # Names and paths are what users have made of them.
    shown = ([printable(line) for line in section] for section in sections)
    filled = ["\n".join(lines) for lines in shown if lines]
    return "\n\n".join(filled) + "\n"


def _titled(title: str, lines: Iterator[str]) -> Iterator[str]:
    """A section, or nothing if it is empty."""
    body = list(lines)
    if body:
        yield f"=== {title} ==="
        yield ""
        yield from body


def _stanzas(stanzas: Iterator[Iterator[str]]) -> Iterator[str]:
    for position, stanza in enumerate(stanzas):
        if position:
            yield ""
        yield from stanza


def size(number: int) -> str:
    """Bytes in the units of memory limits; exact where that is short."""
    for unit, factor in _UNITS:
        if number >= factor:
            exact = number % factor == 0
            return f"{number // factor}{unit}" if exact else f"{number / factor:.2f}{unit}"
    return f"{number}B"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _typed(columns: Mapping[str, Type]) -> str:
    return ", ".join(f"{name} {type_}" for name, type_ in columns.items())


# Nodes


def _topology(facts: Facts) -> Iterator[str]:
    title = f"Execution Plan: {facts.pipeline}"
    yield title
    yield "=" * len(title)
    for node in facts.nodes:
        yield ""
        how = f"{node.title}, parallel: {node.operator.parallelism}"
        yield f"Node {node.index}: {node.name} ({how})"
        if node.service:
            yield f"  <- {_service(node.service)}"
        for out in node.hand_offs:
            yield f"  -> {_connection(out)}"


def _service(service: ServiceFacts) -> str:
    most = _counted(service.max_pages, "page")
    if service.max_records is not None:
        most += f" and {_counted(service.max_records, 'record')}"
    return f"{service.url} (pagination: {service.pagination}, at most {most})"


def _connection(out: HandOff) -> str:
    if out.is_lookup:
        return f"[window] {out.consumer}"
    port = f"[{out.port}] " if out.port else ""
    return f"{port}{out.consumer}" + (f" as {out.qualifier}" if out.qualifier else "")


def _resolved_outputs(facts: Facts) -> Iterator[str]:
    for output in facts.outputs:
        yield f"  '{output.node}' → {output.path}"
        notes = [f"if_exists={output.if_exists}", f"write_meta={str(output.write_meta).lower()}"]
        if output.split:
            notes.append(f"split into {output.split}, …")
        yield f"      [{', '.join(notes)}]"
    for source, path in facts.dead_letters.items():
        yield f"  dead letters of '{source}' → {path}"


def _execution_plan(facts: Facts) -> Iterator[str]:
    yield f"Mode: {facts.mode}"
    if facts.channel:
        yield f"Channel: {facts.channel}"
    for call, file in facts.compositions.items():
        yield f"Composition: {call} ({file})"
    yield f"Transforms: {facts.count('transform')}"
    yield f"Output projections: {facts.count('output')}"
    yield f"DAG nodes: {len(facts.nodes)}"
    first = [node.name for node in facts.nodes if node.is_init]
    if first:
        yield f"Init phase: {', '.join(first)}"
    yield f"arbitration: {facts.arbitration}"


def _schemas(facts: Facts) -> Iterator[str]:
    for node in facts.nodes:
        columns = _typed(node.columns) or ("any" if node.has_more_columns else "<none>")
        yield f"{node.slug}: {columns}"
        if node.required:
            needed, checked = node.required.for_results, node.required.to_reject
            yield f"  reads: {', '.join(needed) or '<none>'}"
            if checked:
                yield f"  reads to check them: {', '.join(checked)}"
            read = {*needed, *checked}
            unread = [name for name in node.columns if name not in read]
            if unread:
                shows_all = node.required.all_for_dead_letters
                how = "reads only for dead letters" if shows_all else "does not read"
                yield f"  {how}: {', '.join(unread)}"
            if node.sections:
                yield f"  reads of documents: {_typed(node.sections)}"
            if node.required.undeclared:
                yield "  keeps columns that the schema does not name"


def _properties(node: NodeFacts) -> Iterator[str]:
    yield f"{node.slug}:"
    yield f"  ordering: {key_text(node.ordering.keys) or '<none>'}"
    yield f"  ordering_provenance: {node.ordering.provenance or '<none>'}"
    yield f"  partitioning: {'PerFile' if node.partitioning.per_file else 'Single'}"
    yield f"  partitioning_provenance: {node.partitioning.provenance}"
    if node.keys:
        yield f"  correlation_keys: {', '.join(node.keys)}"
    if node.aggregate:
        yield f"  strategy: {node.aggregate.chosen} ({node.aggregate.reason})"
        if node.aggregate.missed_streaming:
            sorted_by = key_text(node.aggregate.sorted_by)
            yield f"  streaming_available: the input is sorted by {sorted_by}"
    yield f"  buffer: {node.buffer}"
    volume = node.volume
    yield (
        f"  arbitration: spill_priority={_priority(node)}, "
        f"can_back_pressure={str(node.can_back_pressure).lower()}, "
        f"predicted_peak={size(volume.peak or 0)}, predicted_freed={size(volume.freed)}, "
        f"predicted_subtree_reclaim={size(volume.subtree_reclaim)}"
    )


def _priority(node: NodeFacts) -> str:
    priority = node.operator.spill_priority
    return "N/A" if priority is None else str(priority)


def _edge(facts: Facts, edge: HandOff) -> Iterator[str]:
    producer, consumer = facts.node(edge.producer), facts.node(edge.consumer)
    port = f" [{edge.port}]" if edge.port else ""
    yield f"edge {producer.slug}{port} -> {consumer.slug}:"
    yield f"  buffer: node_buffer (slot={edge.slot})"
    yield f"  spark: {edge.crossing} ({edge.reason})"
    peak = size(producer.volume.peak or 0)
    yield (
        f"  arbitration: spill_priority=0, can_back_pressure=false, predicted_peak={peak}, "
        f"predicted_freed={peak} (producer: {producer.kind})"
    )


# Routes, combines, windows


def _routes(facts: Facts) -> Iterator[str]:
    for position, route in enumerate(facts.routes):
        if position:
            yield ""
        yield f"Route '{route.node}' (mode: {route.mode}):"
        for branch in route.branches:
            condition = "(default)" if branch.condition is None else f"if {branch.condition}"
            yield f"  {branch.name} {condition} → {', '.join(branch.consumers) or '<none>'}"


def _combine(combine: CombineFacts) -> Iterator[str]:
    yield f"Combine '{combine.node}':"
    yield f"  Driving input: {combine.driver} (from {combine.inputs[combine.driver]})"
    for number, step in enumerate(combine.steps, 1):
        yield f"  Step {number}: build {step.build} (from {combine.inputs[step.build]})"
        yield from _step(step)
    yield f"  Match: {combine.match}"
    yield f"  On miss: {combine.on_miss}"
    keys = combine.propagate_ck
    yield f"  Correlation keys: {keys if isinstance(keys, str) else ', '.join(keys)}"


def _step(step: StepFacts) -> Iterator[str]:
    yield f"    Strategy: {step.strategy} ({step.on_spark})"
    if step.equalities:
        yield f"    Equalities: {_compared(step.equalities)}"
    if step.ranges:
        yield f"    Ranges: {_compared(step.ranges)}"
    if step.residuals:
        yield f"    Residuals: {'; '.join(step.residuals)}"


def _compared(comparisons: tuple[ComparisonFacts, ...]) -> str:
    return "; ".join(comparison.text for comparison in comparisons)


def _windows(facts: Facts) -> Iterator[str]:
    analytic = (_window(window) for window in facts.windows)
    timed = (_time_window(window) for window in facts.time_windows)
    yield from _stanzas(stanza for stanzas in (analytic, timed) for stanza in stanzas)


def _window(facts: WindowFacts) -> Iterator[str]:
    window = facts.window
    yield f"Window '{facts.node}':"
    yield f"  Root: {facts.root}"
    if window.lookup is not None:
        yield f"  Looked up by: {', '.join(window.lookup)}"
    yield f"  Group by: {', '.join(window.spec.group_by) or '<none>'}"
    yield f"  Sort by: {key_text(window.spec.sort_by) or '<arrival>'}"
    yield f"  Frame: {facts.frame}"
    yield f"  Fields: {', '.join(window.reads) or '<none>'}"
    yield f"  Already sorted: {'yes' if window.already_sorted else 'no'}"
    if window.buffered:
        yield "  Recomputed when records are taken back: yes"


def _time_window(window: TimeWindowFacts) -> Iterator[str]:
    yield f"Time window '{window.node}': {window.shape}"
    watermarks = ", ".join(f"{source}.{column}" for source, column in window.watermarks.items())
    yield f"  Closed by: {watermarks}"
    if window.allowed_lateness:
        yield f"  Allowed lateness: {window.allowed_lateness}"


# Retraction


def _retraction(retraction: RetractionFacts) -> Iterator[str]:
    yield (
        f"retraction enabled — {len(retraction.aggregates)} relaxed aggregates, "
        f"{len(retraction.windows)} buffer-mode windows, "
        f"fanout policy: {retraction.fanout_policy}."
    )
    for name, policy in retraction.own_policies.items():
        yield f"fanout policy of '{name}': {policy}"
    for aggregate in retraction.aggregates:
        yield ""
        yield f"aggregate '{aggregate.node}':"
        yield f"  group_by omits: {', '.join(aggregate.omitted)}"
        yield f"  accumulators: {aggregate.retraction}"
        yield "  lineage: none, until a failure behind it leads back to its records"
        yield f"  synthetic key: {aggregate.synthetic_key}, ~16 bytes/output row"
        yield "  groups: unknown at plan time"
        yield "  on failure: computed again without the records taken back, never degraded"
    for window in retraction.windows:
        yield ""
        yield f"window '{window.node}':"
        yield f"  source: {window.root}"
        yield f"  partition_by: {', '.join(window.partition_by) or '<none>'}"
        slots = _counted(len(window.fields), "Value slot")
        yield f"  buffer: {slots}/row ({', '.join(window.fields)})"
        yield f"  worst case: rows of the largest partition at {slots} each"
        yield "  on failure: computed again without the records taken back, never degraded"


# CXL


def _cxl(node: NodeFacts) -> Iterator[str]:
    assert node.cxl
    yield f"{node.slug}:"
    if node.cxl.reads:
        yield f"  reads: {_typed(node.cxl.reads)}"
    if node.cxl.variables:
        yield f"  variables: {', '.join(node.cxl.variables)}"
    if node.cxl.writes:
        yield f"  writes: {_typed(node.cxl.writes)}"
    yield f"  can fail: {', '.join(node.cxl.failures) or 'no'}"
    for text in node.interpreted:
        yield f"  in the interpreter, record by record: {text}"


# Resources


def _memory(facts: Facts) -> Iterator[str]:
    memory = facts.memory
    yield f"Memory limit: {size(memory.limit)} ({memory.limit_from})"
    threads = "all cores" if memory.threads is None else memory.threads
    yield f"Worker threads: {threads} ({memory.threads_from})"
    yield f"Batch size: {_counted(memory.batch_size, 'record')}"
    if memory.chunk_size is not None:
        yield f"Chunk size: {_counted(memory.chunk_size, 'byte')}"


def _spill_volume(storage: StorageFacts) -> Iterator[str]:
    if not storage.spilling:
        return
    yield "Estimated spill volume (per blocking stage):"
    for node in storage.spilling:
        estimate = "unknown" if node.estimate is None else size(node.estimate)
        yield f"  {node.label} → {estimate}"
    if not storage.any_unknown:
        yield f"  Total: {size(storage.total_known)}"
        return
    yield (
        f"  Total (known stages): {size(storage.total_known)} (excludes stages whose volume is "
        "unknown at plan time — a network source, a missing or unreadable input, or a glob/regex "
        "matcher whose discovery fails)"
    )


def _storage(storage: StorageFacts) -> Iterator[str]:
    yield f"Spill root: {storage.spill_dir} [{storage.spill_dir_origin}]"
    cap = "unlimited (default)"
    if storage.disk_cap is not None:
        cap = f"{storage.disk_cap} bytes [storage.spill.disk_cap_bytes]"
    yield f"Spill disk cap: {cap}"
    origin = "(default)" if storage.compress_is_default else "[storage.spill.compress]"
    yield f"Spill compression: {storage.compress.capitalize()} {origin}"
    for node in storage.spilling:
        yield f"  {node.noun} '{node.node}' → {'lz4' if node.compressed else 'off'}"
    if storage.headroom:
        yield from _headroom(storage.headroom)


def _headroom(headroom: Headroom) -> Iterator[str]:
    percent = "" if headroom.percent is None else f", {headroom.percent:.0f}%"
    used = f"({headroom.estimate} estimated of {headroom.cap} cap{percent})"
    if headroom.left >= 0:
        yield f"Cap headroom: {headroom.left} bytes free {used}"
    else:
        yield f"Cap headroom: {-headroom.left} bytes short {used}"
    yield (
        "  [per invocation — does NOT account for sibling invocations sharing the spill volume "
        "under partition-and-run]"
    )
    if headroom.is_tight:
        yield "  W331: the run may end with a spill-cap error (E320); raise disk_cap_bytes"


def _staging(storage: StorageFacts) -> Iterator[str]:
    if storage.staging is None:
        yield "Staging is disabled: every source reads in place."
        return
    for source in storage.staging:
        yield f"Source '{source.source}':"
        if source.is_network:
            yield "  not stagable (network source reads in place)"
        elif not source.files:
            yield "  no file found"
        for file in source.files:
            yield f"  {_staged(file)}"


def _staged(file: StagedFile) -> str:
    if file.copy is None:
        return f"{file.file} → staged: no (no pattern match, reads in place)"
    reuse = f", reuse: {file.reuse}" if file.reuse else ""
    return f"{file.file} → staged: yes, path: {file.copy}{reuse}"
