"""Dead letters: what becomes of rejected records, and when they are too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.config.error_handling import SourceDlq
from clinker.config.nodes import CombineNode, SourceNode
from clinker.cxl.ast import TraceLevel
from clinker.cxl.tagged import encode
from clinker.diagnostics import Diagnostic, Label
from clinker.engine.carried import carried_values, is_carried
from clinker.engine.flow import FILE_SHIFT, POSITION, SOURCE, WIDENED
from clinker.engine.inputs import SourceInput
from clinker.engine.observer import Observer
from clinker.engine.report import Counts, DeadLetterFile, Exit, RunError
from clinker.engine.stages import WIDE_SUMS, Stages
from clinker.formats.dead_letter_file import DeadLetter, stage_dead_letters
from clinker.formats.publication import Publication, Target
from clinker.frozen import frozen
from clinker.plan.compile import Plan
from clinker.plan.dead_letters import Limit

LATE_RECORD = "late_record"
_ROW_MASK = (1 << FILE_SHIFT) - 1


class WideSumsNeeded(Exception):
    """A Float lies outside the range of the usual sums; the run must start over with wide ones."""


@frozen(eq=False)
class Rejected:
    """All rejected records of a run, in the order of sources, files and rows."""

    letters: Sequence[DeadLetter]
    by_source: Mapping[str, int]
    is_fatal: Sequence[bool]
    """For each letter, whether its stage ends the run under every strategy."""

    @property
    def records(self) -> int:
        """How many source records were rejected, however often."""
        places = {
            (letter.source_name, letter.source_file, letter.source_row) for letter in self.letters
        }
        return len(places)

    @property
    def categories(self) -> Mapping[str, int]:
        return Counter(letter.category for letter in self.letters)


def explained(
    tables: Sequence[pa.Table], stages: Stages, inputs: Sequence[SourceInput]
) -> Rejected:
    """The rejected records with their reasons."""
    letters: list[DeadLetter] = []
    fatal: list[bool] = []
    for row in _in_order(tables):
        if row["stage"] == WIDE_SUMS:
            raise WideSumsNeeded
        stage = stages[row["stage"]]
        reason = stages.reason(row["stage"], row["inputs"])
        source = inputs[row[SOURCE]] if row[SOURCE] is not None else None
        position = row[POSITION] or 0
        letters.append(
            DeadLetter(
                source_file=source.files[position >> FILE_SHIFT].name if source else "",
                source_name=source.name if source else "",
                source_row=position & _ROW_MASK if source else None,
                stage=stage.node,
                route=stage.branch,
                trigger=reason.rule,
                category=reason.category,
                detail=reason.detail,
                field=reason.field,
                value=reason.value,
                origin=_source_fields(row["origin"]),
            )
        )
        fatal.append(stage.is_fatal)
    return Rejected(letters, Counter(letter.source_name for letter in letters), fatal)


def _source_fields(origin: str | None) -> str | None:
    """The fields of a record as its source read them, as a tagged map."""
    if origin is None or not is_carried(origin):
        return origin
    fields = carried_values(origin)
    widened = fields.pop(WIDENED, None)
    return encode({**fields, **(widened if isinstance(widened, dict) else {})})


def _in_order(tables: Sequence[pa.Table]) -> Iterator[dict[str, Any]]:
    if not tables:
        return
    table = pa.concat_tables(tables)
    keys = [(name, "ascending") for name in (SOURCE, POSITION, "stage", "inputs")]
    for batch in table.take(pc.sort_indices(table, keys)).to_batches():
        yield from batch.to_pylist()


# Limits


def check_limits(plan: Plan, rejected: Rejected, totals: Mapping[str, int]) -> None:
    """End the run if rejected records are not acceptable, or too many of them."""
    handling = plan.pipeline.error_handling
    counts = Counts(total=sum(totals.values()), dlq=len(rejected.letters))
    for letter, is_fatal in zip(rejected.letters, rejected.is_fatal, strict=True):
        if is_fatal or (handling.strategy == "fail_fast" and letter.category != LATE_RECORD):
            raise _missed(plan, letter, counts) if is_fatal else _stopped_by(letter, counts)
    found = next(_exceeded_limits(plan, rejected, totals), None)
    if found:
        message, queue = found
        help = "nothing was written; correct the input, or allow more rejected records"
        diagnostics = []
        if queue:
            diagnostics = [Diagnostic("E316", message, Label(queue.at("max_rate")), help=help)]
        raise RunError(message, Exit.EVALUATION, diagnostics, help, counts)


def _exceeded_limits(
    plan: Plan, rejected: Rejected, totals: Mapping[str, int]
) -> Iterator[tuple[str, SourceDlq | None]]:
    """The limits that were passed, each with the queue that sets it if it is one."""
    queue = plan.pipeline.error_handling.dlq
    total, found = sum(totals.values()), len(rejected.letters)
    most = plan.options.error_threshold
    if most and found > most:
        yield f"{found} records were rejected, more than --error-threshold {most}", None
    rate = plan.pipeline.error_handling.type_error_threshold
    if rate is not None and total and rejected.records / total > rate:
        yield (
            f"{rejected.records} of {total} records were rejected, "
            f"more than 'type_error_threshold: {rate}' allows",
            None,
        )
    for source, limit in plan.dead_letters.limits.items():
        count = rejected.by_source.get(source, 0)
        if _is_exceeded(limit, count, totals[source]):
            yield (
                f"{count} of {totals[source]} records of '{source}' were rejected, "
                f"'max_rate' is {limit.max_rate}",
                queue.per_source[source],
            )
    common = plan.dead_letters.limit
    if common and _is_exceeded(common, found, total):
        yield f"{found} of {total} records were rejected, 'max_rate' is {common.max_rate}", queue


def _is_exceeded(limit: Limit, count: int, total: int) -> bool:
    return total >= max(limit.min_records, 1) and count > 0 and count / total >= limit.max_rate


def _stopped_by(letter: DeadLetter, counts: Counts) -> RunError:
    rule = f" (rule '{letter.trigger}')" if letter.trigger else ""
    field = f" while computing '{letter.field}'" if letter.field and not letter.trigger else ""
    message = f"{_place(letter)}: {letter.detail}{rule}{field}, in '{letter.stage}'"
    help = "'error_handling: { strategy: continue }' collects such records"
    return RunError(message, Exit.EVALUATION, help=help, counts=counts)


def _missed(plan: Plan, letter: DeadLetter, counts: Counts) -> RunError:
    """A record without the match that its combine insists on."""
    unit = plan.graph.units[letter.stage]
    assert isinstance(unit.node, CombineNode)
    message = f"{_place(letter)}: {letter.detail.removeprefix('E319: ')}, in '{letter.stage}'"
    help = "repair the input, or let misses pass with 'on_miss: null_fields' or 'skip'"
    found = unit.problem("E319", message, unit.node.config.at("on_miss"), help=help)
    return RunError(message, Exit.EVALUATION, [found], help, counts)


def _place(letter: DeadLetter) -> str:
    return f"{letter.source_file}, row {letter.source_row}" if letter.source_name else "a group"


# Files


def stage_files(
    plan: Plan, rejected: Rejected, inputs: Sequence[SourceInput], publication: Publication
) -> list[DeadLetterFile]:
    """Stage the dead-letter files, each with the letters of its sources."""
    dlq = plan.pipeline.error_handling.dlq
    paths = plan.dead_letters.paths
    columns = _source_columns(rejected, inputs) if dlq.include_source_row else []
    common = plan.dead_letters.common_path
    found: list[DeadLetterFile] = []
    for path in dict.fromkeys([*paths.values(), common]):
        if path is None:
            continue
        letters = (x for x in rejected.letters if paths.get(x.source_name, common) == path)
        target = Target(path=path, if_exists="overwrite")
        entries = stage_dead_letters(
            publication,
            target,
            letters,
            source_columns=columns,
            include_reason=dlq.include_reason,
            include_source_row=dlq.include_source_row,
        )
        if entries:
            found.append(DeadLetterFile(path=path, entries=entries))
    return found


def _source_columns(rejected: Rejected, inputs: Sequence[SourceInput]) -> list[str]:
    """The fields of all sources: declared ones in order, then what else their records have."""
    columns = {
        column.name: None
        for source in inputs
        if isinstance(source.unit.node, SourceNode)
        for column in source.unit.node.config.schema_columns
    }
    for letter in rejected.letters:
        if letter.origin:
            columns.update(dict.fromkeys(orjson.loads(letter.origin)))
    return list(columns)


def log_unfiled(plan: Plan, rejected: Rejected, observer: Observer) -> None:
    """Tell about letters that no file takes."""
    for letter in rejected.letters:
        if plan.dead_letters.paths.get(letter.source_name, plan.dead_letters.common_path) is None:
            where = f"{letter.source_file} row {letter.source_row}: " if letter.source_name else ""
            text = f"rejected: {where}{letter.category}: {letter.detail}"
            observer.logged(TraceLevel.WARN, text, letter.stage)
