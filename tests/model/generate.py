"""Random pipelines with correlation keys, and random records for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from clinker.cxl.values import Value

Data = dict[str, list[dict[str, Value]]]


@dataclass
class Case:
    """A pipeline file and the records of its sources."""

    pipeline: str
    data: Data

    def file(self, source: str) -> str:
        lines = [
            ",".join("" if v is None else str(v) for v in r.values()) for r in self.data[source]
        ]
        return "\n".join(["id,k,n", *lines]) + "\n"


@dataclass
class _Making:
    """A pipeline in the making: every stream has the fields id, k and n."""

    random: Random
    nodes: list[str] = field(default_factory=list)
    streams: list[str] = field(default_factory=list)
    count: int = 0

    def name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def stream(self) -> str:
        return self.random.choice(self.streams[-4:])

    def add(self, text: str, *streams: str) -> None:
        self.nodes.append(text)
        self.streams += streams


def make_case(random: Random) -> Case:
    """A pipeline that may not compile, and its records."""
    making = _Making(random)
    names = ["a", "b"][: random.choice([1, 1, 2])]
    keys = random.choice(["id", "id", "[id, k]", "k"])
    for name in names:
        own = keys if random.random() < 0.8 else random.choice(["id", "k", ""])
        making.add(_source(name, own if name != "a" else keys), name)
    for _ in range(random.randint(1, 5)):
        random.choice([_transform, _transform, _route, _merge, _aggregate, _aggregate, _combine])(
            making
        )
    ends = {making.streams[-1], *random.sample(making.streams, min(2, len(making.streams)))}
    for number, stream in enumerate(sorted(ends)):
        _output(making, f"out{number}", stream)
    policy = random.choice(["any", "any", "all", "primary"])
    head = (
        "pipeline: { name: p }\n"
        "error_handling:\n"
        "  strategy: continue\n"
        f"  correlation_fanout_policy: {policy}\n"
        "  dlq: { path: dlq.csv }\n"
        "nodes:\n"
    )
    return Case(head + "".join(making.nodes), {name: _records(random) for name in names})


def _records(random: Random) -> list[dict[str, Value]]:
    return [
        {
            "id": random.choice(["x", "y", "z", "w", ""]),
            "k": random.choice(["p", "q", "r"]),
            "n": random.randint(0, 9),
        }
        for _ in range(random.randint(1, 9))
    ]


def _source(name: str, key: str) -> str:
    columns = "{ name: id, type: string }, { name: k, type: string }, { name: n, type: int }"
    keyed = f", correlation_key: {key}" if key else ""
    config = f"type: csv, path: {name}.csv, schema: [{columns}]{keyed}"
    return f"  - {{ type: source, name: {name}, config: {{ {config} }} }}\n"


def _failing(random: Random) -> str:
    """A condition that holds for some records."""
    modulus = random.randint(2, 9)
    return f"n % {modulus} == {random.randrange(modulus)}"


def _program(lines: list[str]) -> str:
    return "".join(f"          {line}\n" for line in lines)


def _transform(making: _Making) -> None:
    random, name = making.random, making.name("t")
    lines = random.sample(
        [
            f"emit n = if {_failing(random)} then 1 / 0 else n + 1",
            f"filter not ({_failing(random)})",
            "distinct by k",
            "emit id = 'same'",
            "emit n = n * 2",
            f"emit k = if {_failing(random)} then 'p' else k",
        ],
        random.randint(1, 2),
    )
    making.add(
        f"  - type: transform\n    name: {name}\n    input: {making.stream()}\n"
        f"    config:\n      cxl: |\n{_program(lines)}",
        name,
    )


def _route(making: _Making) -> None:
    random, name = making.random, making.name("r")
    mode = random.choice(["inclusive", "exclusive"])
    fails = f"if {_failing(random)} then 1 / 0 > 0 else n > 3"
    first = random.choice(["n > 2", fails])
    making.add(
        f"  - type: route\n    name: {name}\n    input: {making.stream()}\n    config:\n"
        f"      mode: {mode}\n      conditions: {{ one: '{first}', two: 'n < 6' }}\n"
        "      default: rest\n",
        *(f"{name}.{branch}" for branch in ("one", "two", "rest")),
    )


def _merge(making: _Making) -> None:
    random, name = making.random, making.name("m")
    if len(making.streams) < 2:
        return
    inputs = ", ".join(random.sample(making.streams, 2))
    making.add(f"  - {{ type: merge, name: {name}, inputs: [{inputs}], config: {{}} }}\n", name)


def _aggregate(making: _Making) -> None:
    random, name = making.random, making.name("g")
    by = random.choice([["id"], ["k"], ["id", "k"], []])
    total = random.choice(
        ["sum(n)", f"sum(if {_failing(random)} then 1 / 0 else n)", "sum(n) + 12 / (sum(n) - 7)"]
    )
    lines = [f"emit {other} = min({other})" for other in ("id", "k") if other not in by]
    making.add(
        f"  - type: aggregate\n    name: {name}\n    input: {making.stream()}\n    config:\n"
        f"      group_by: [{', '.join(by)}]\n      cxl: |\n"
        f"{_program([*lines, f'emit n = {total}'])}",
        name,
    )


def _combine(making: _Making) -> None:
    random, name = making.random, making.name("c")
    driver, build = making.stream(), random.choice(making.streams)
    if driver == build:
        return
    fails = f"if d.{_failing(random)} then 1 / 0 else d.n"
    value = random.choice(["d.n", "d.n + (b.n ?? 0)", fails])
    propagate = random.choice(["driver", "all", "{ named: [id] }", "{ named: [k] }"])
    making.add(
        f"  - type: combine\n    name: {name}\n    input: {{ d: {driver}, b: {build} }}\n"
        f"    config:\n      where: 'd.k == b.k'\n"
        f"      match: {random.choice(['first', 'all'])}\n"
        f"      on_miss: {random.choice(['skip', 'null_fields'])}\n"
        f"      propagate_ck: {propagate}\n      cxl: |\n"
        f"{_program(['emit id = d.id', 'emit k = d.k', f'emit n = {value}'])}",
        name,
    )


def _output(making: _Making, name: str, stream: str) -> None:
    policy = making.random.choice(["", "", "any", "all", "primary"])
    own = f", correlation_fanout_policy: {policy}" if policy else ""
    config = f"type: csv, path: {name}.csv{own}"
    making.add(f"  - {{ type: output, name: {name}, input: {stream}, config: {{ {config} }} }}\n")
