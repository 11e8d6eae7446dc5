"""Random pipelines with correlation keys, and random records for them."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from clinker.cxl.values import text_of

from .rows import Cell, Unreadable, Variable

Node: TypeAlias = dict[str, Any]

FIELDS = ("id", "k", "n", "t")
"""The fields of all records: two texts, a number and a time."""
_START = dt.datetime(2026, 5, 14)
_KEYS: list[str | list[str]] = ["id", "id", ["id", "k"], "k"]
_POLICIES = ("any", "all", "primary")


@dataclass
class Case:
    """A pipeline, the compositions that it calls and the records of its sources."""

    head: Node
    nodes: list[Node]
    compositions: dict[str, Node]
    formats: Mapping[str, str]
    data: dict[str, list[list[dict[str, Cell]]]]

    @property
    def pipeline(self) -> str:
        listed = ",\n".join(f"  {json.dumps(node)}" for node in self.nodes)
        parts = [f"{key}: {json.dumps(value)}" for key, value in self.head.items()]
        return "\n".join([*parts, f"nodes: [\n{listed}\n]", ""])

    def write(self, folder: Path) -> None:
        for name, composition in self.compositions.items():
            (folder / name).write_text(json.dumps(composition))
        for source, files in self.data.items():
            for number, records in enumerate(files):
                form = self.formats[source]
                render = _csv if form == "csv" else _ndjson
                (folder / f"{source}{number}.{form}").write_text(render(records))

    def __str__(self) -> str:
        more = [f"# {name}\n{json.dumps(c)}\n" for name, c in self.compositions.items()]
        files = [
            f"# {source}{number}\n{_csv(records)}"
            for source, files in self.data.items()
            for number, records in enumerate(files)
        ]
        return "".join([self.pipeline, *more, *files])


def _csv(records: Sequence[Mapping[str, Cell]]) -> str:
    lines = [",".join(_text(cell) for cell in record.values()) for record in records]
    return "\n".join([",".join(FIELDS), *lines]) + "\n"


def _ndjson(records: Sequence[Mapping[str, Cell]]) -> str:
    return "".join(json.dumps({n: _json(c) for n, c in r.items()}) + "\n" for r in records)


def _text(cell: Cell) -> str:
    if cell is None:
        return ""
    return cell.text if isinstance(cell, Unreadable) else text_of(cell)


def _json(cell: Cell) -> object:
    return cell if cell is None or isinstance(cell, int) else _text(cell)


# Pipelines in the making


@dataclass(frozen=True)
class Stream:
    """What leaves a node, as far as others must know to read it."""

    name: str
    has_more: bool = False
    """Whether there are fields besides the usual ones."""
    variables: frozenset[Variable] = frozenset()
    """Those that have been written on the way."""


@dataclass
class Making:
    """A pipeline, or the body of a composition, in the making."""

    random: Random
    shared: Shared
    nodes: list[Node] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    """Of a composition, what calls set."""
    depth: int = 0
    taken: set[Variable] = field(default_factory=set)
    """The variables that are used here."""

    def name(self, kind: str) -> str:
        self.shared.count += 1
        return f"{kind}{self.shared.count}"

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def stream(self) -> Stream:
        return self.random.choice(self.streams[-4:])

    def add(self, node: Node, *streams: Stream) -> None:
        self.nodes.append(node)
        self.streams += streams


@dataclass
class Shared:
    """What a pipeline and its compositions have in common."""

    count: int = 0
    variables: dict[str, dict[str, Node]] = field(
        default_factory=lambda: {"pipeline": {}, "source": {}, "record": {}}
    )
    compositions: dict[str, Node] = field(default_factory=dict)
    formats: dict[str, str] = field(default_factory=dict)
    data: dict[str, list[list[dict[str, Cell]]]] = field(default_factory=dict)


def make_case(random: Random) -> Case:
    """A pipeline that may not compile, and its records."""
    from .nodes import add_init, add_node

    making = Making(random, Shared())
    keys = random.choice(_KEYS)
    is_timed = making.chance(0.5)
    for number, name in enumerate(["a", "b", "c"][: random.choice([1, 1, 2, 2, 3])]):
        own = keys if number == 0 or making.chance(0.75) else random.choice(["id", "k", ""])
        add_source(making, name, own, is_timed=is_timed)
    if making.chance(0.12):
        add_init(making, keys)
    for _ in range(random.randint(1, 6)):
        add_node(making)
    _add_outputs(making)
    handling: Node = {
        "strategy": random.choice(["continue", "continue", "best_effort"]),
        "correlation_fanout_policy": random.choice(["any", *_POLICIES]),
        "dlq": {"path": "dlq.csv"},
    }
    if making.chance(0.1):
        handling["max_group_buffer"] = random.randint(1, 4)
    _set_policies_of_sources(making)
    shared = making.shared
    variables = {scope: own for scope, own in shared.variables.items() if own}
    head: Node = {"pipeline": {"name": "p", "vars": variables}, "error_handling": handling}
    return Case(head, making.nodes, shared.compositions, shared.formats, shared.data)


def add_source(making: Making, name: str, key: str | list[str], *, is_timed: bool) -> None:
    random = making.random
    form = making.shared.formats[name] = random.choice(["csv", "csv", "json"])
    counts = random.choice([(9,), (9,), (5, 4), (3, 0, 3)])
    files = [[_record(making) for _ in range(random.randint(0, most))] for most in counts]
    making.shared.data[name] = files
    config: Node = {
        "type": form,
        "paths": [f"{name}{number}.{form}" for number in range(len(files))],
        "schema": {"id": "string", "k": "string", "n": "int", "t": "date_time"},
    }
    if form == "json":
        config["options"] = {"format": "ndjson"}
    if key:
        config["correlation_key"] = key
    if is_timed:
        config["watermark"] = {"column": "t"}
        if making.chance(0.4):
            config["watermark"]["delay"] = random.choice(["30m", "1h"])
    making.add({"type": "source", "name": name, "config": config}, Stream(name))


def _set_policies_of_sources(making: Making) -> None:
    for node in making.nodes:
        if node["type"] == "source" and making.chance(0.3):
            node["config"]["correlation_fanout_policy"] = making.random.choice(_POLICIES)


def _record(making: Making) -> dict[str, Cell]:
    random = making.random
    number: Cell = random.randint(0, 9)
    if making.chance(0.06):
        number = random.choice([None, Unreadable("x")])
    minutes = random.choice([0, 10, 20, 30, 45, 60, 70, 90, 120, 150, 300])
    time: Cell = _START + dt.timedelta(minutes=minutes) if making.chance(0.96) else None
    return {
        "id": random.choice(["x", "y", "z", "w", ""]),
        "k": random.choice(["p", "q", "r"]),
        "n": number,
        "t": time,
    }


def _add_outputs(making: Making) -> None:
    random = making.random
    last = making.streams[-5:]
    ends = {last[-1], *random.sample(last, min(2, len(last)))}
    for number, stream in enumerate(sorted(ends, key=lambda stream: stream.name)):
        name = f"out{number}"
        form = "json" if stream.has_more else random.choice(["csv", "json"])
        config: Node = {"type": form, "path": f"{name}.{form}"}
        if form == "json":
            config["options"] = {"format": "ndjson"}
        if making.chance(0.4):
            config["correlation_fanout_policy"] = random.choice(_POLICIES)
        if making.chance(0.3):
            config["include_correlation_keys"] = True
        if making.chance(0.2):
            key = {"field": random.choice(FIELDS), "order": random.choice(["asc", "desc"])}
            key["null_order"] = random.choice(["first", "last", "drop"])
            config["sort_order"] = [key]
        if making.chance(0.15):
            config["include_metadata"] = "all"
        if making.chance(0.15):
            config |= {"exclude": ["t"], "mapping": {"number": "n"}}
        node = {"type": "output", "name": name, "input": stream.name, "config": config}
        making.nodes.append(node)
