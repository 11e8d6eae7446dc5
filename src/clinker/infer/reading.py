"""A sample as records, read as a run would read it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from clinker.config import load_pipeline
from clinker.config.nodes import SourceNode
from clinker.config.nodes.source import SourceConfig
from clinker.config.writing import flow
from clinker.cxl.run.tagged import decode
from clinker.cxl.types import STRING
from clinker.formats.common.read_spec import REJECT, WIDENED
from clinker.formats.reading import (
    Column,
    ReadSpec,
    input_file,
    read_split,
    take_inventory,
)
from clinker.formats.registry import FORMATS, format_named
from clinker.frozen import frozen
from clinker.infer.guess import Guess

_SOURCE = "sample"
_SPLIT_BYTES = 1 << 40


@frozen(kw_only=True)
class Records:
    """The records of a sample."""

    names: Sequence[str]
    """Their fields, as the file names them first."""
    rows: Sequence[Mapping[str, Any]]
    rejected: Sequence[str]
    """Why others cannot be read, whatever the schema says."""
    is_all: bool
    """Whether the sample has no more."""
    warnings: Sequence[str]


def read_records(guess: Guess, path: str, most: int) -> Records:
    """The first records of a sample, their values as the file has them."""
    config = _config(guess)
    layout = config.format_schema.inline if config.format_schema else None
    columns = tuple(Column(place.name, STRING) for place in guess.places)
    spec = ReadSpec(
        source=0,
        source_name=_SOURCE,
        format=FORMATS[guess.format],
        dialect=format_named(guess.format).read_dialect(config, layout),
        columns=columns,
        needed=tuple(column.name for column in columns),
    )
    rows: list[Mapping[str, Any]] = []
    rejected: list[str] = []
    read = 0
    with tempfile.TemporaryDirectory(prefix="clinker-infer-") as directory:
        copy = Path(directory, "sample")
        copy.write_bytes(guess.content)
        inventory = take_inventory(spec, [input_file(0, str(copy), path)], _SPLIT_BYTES)
        for split in inventory.splits:
            for batch in read_split(spec, inventory, split):
                batch = batch.slice(0, most - read)
                read += batch.num_rows
                rejected += _reasons(batch)
                rows += _values(batch.filter(batch[REJECT].is_null()))
                if read == most:
                    break
        total = sum(split.records or 0 for split in inventory.splits)
    names = [*(column.name for column in columns), *inventory.undeclared]
    if not names:
        names = list(dict.fromkeys(name for row in rows for name in row))
    return Records(
        names=names,
        rows=rows,
        rejected=rejected,
        is_all=read >= total,
        warnings=inventory.warnings,
    )


def _config(guess: Guess) -> SourceConfig:
    anything = [{"name": "anything", "type": "any"}]
    config: dict[str, object] = {"type": guess.format, "path": "sample", "schema": anything}
    if guess.reading:
        config["options"] = dict(guess.reading)
    if guess.places:
        config["format_schema"] = {
            "fields": [{"name": p.name, "start": p.start, "width": p.width} for p in guess.places]
        }
    source = {"type": "source", "name": _SOURCE, "config": config}
    text = flow({"pipeline": {"name": _SOURCE}, "nodes": [source]})
    pipeline = load_pipeline(text.replace("$", "$$").encode(), {}).value
    assert pipeline
    node = pipeline.nodes[0]
    assert isinstance(node, SourceNode)
    return node.config


def _reasons(batch: pa.RecordBatch) -> Iterator[str]:
    for reject in batch[REJECT].drop_null().to_pylist():
        facts = decode(reject["inputs"])
        assert isinstance(facts, dict)
        yield str(facts["detail"])


def _values(batch: pa.RecordBatch) -> Iterator[Mapping[str, Any]]:
    """The fields of records: a column each, or all of them as a tagged map."""
    if WIDENED in batch.schema.names:
        for text in batch[WIDENED].to_pylist():
            fields = decode(text)
            yield fields if isinstance(fields, dict) else {}
        return
    prefix = f"{WIDENED}."
    names = [name for name in batch.schema.names if not name.startswith("$")]
    names += [name for name in batch.schema.names if name.startswith(prefix)]
    columns = (batch[name].to_pylist() for name in names)
    shown = [name.removeprefix(prefix) for name in names]
    for values in zip(*columns, strict=True):
        yield dict(zip(shown, values, strict=True))
