"""Files inferred, and read again as the proposed pipeline says, without an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from clinker.config import load_pipeline
from clinker.config.nodes import SourceNode
from clinker.engine.reading.inputs import open_inputs
from clinker.engine.rejects.sites import Sites
from clinker.engine.report.facts import identify
from clinker.engine.run.observer import Quiet
from clinker.formats.common.read_spec import REJECT
from clinker.formats.files.spool import Spool
from clinker.infer.infer import Inference, infer
from clinker.plan.compile import Plan, compile_pipeline
from clinker.plan.options import Options


def inferred(
    directory: Path, files: Mapping[str, bytes], *, sample: int = 1000, format: str | None = None
) -> Inference:
    for name, content in files.items():
        (directory / name).write_bytes(content)
    paths = [str(directory / name) for name in files]
    return infer(paths, directory, records=sample, format=format)


def types_of(directory: Path, name: str, content: bytes) -> dict[str, str]:
    """The columns that are proposed for a file."""
    text = inferred(directory, {name: content}).text
    [node] = load_nodes(text)
    return {column.name: str(column.type) for column in node.config.schema_columns}


def load_nodes(text: str) -> list[SourceNode]:
    loaded = load_pipeline(text.encode(), {})
    assert loaded.value, [d.message for d in loaded.diagnostics]
    return [node for node in loaded.value.nodes if isinstance(node, SourceNode)]


def plan_of(text: str, directory: Path) -> Plan:
    compiled = compile_pipeline(text.encode(), "inferred.yaml", Options(base_dir=directory))
    assert compiled.plan, [d.message for d in compiled.diagnostics]
    return compiled.plan


def rejects_of(text: str, directory: Path) -> Sequence[object]:
    """What a run would reject of what the sources hold."""
    plan = plan_of(text, directory)
    spool = Spool(lambda: directory)
    opened = open_inputs(plan, identify(None), Sites(), spool, Quiet(), whole=True)
    return [reject for source in opened for reject in source.table[REJECT].drop_null().to_pylist()]
