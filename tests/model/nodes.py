"""Random nodes of every kind, with programs in which some records fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

from .generate import Making, Node, Stream, add_source
from .rows import Variable


def add_node(making: Making) -> None:
    """One more node, of any kind, that reads what others give."""
    kinds: list[tuple[Callable[[Making], None], int]] = [
        (_transform, 5),
        (_window, 2),
        (_look_up, 1),
        (_route, 3),
        (_merge, 3),
        (_aggregate, 6),
        (_time_window, 3),
        (_combine, 4),
        (_state, 3),
        (_composition, 2),
    ]
    makers, weights = zip(*kinds, strict=True)
    making.random.choices(makers, weights)[0](making)


def add_init(making: Making, key: str | list[str]) -> None:
    """A variable that is written before the run, from records of a source of its own."""
    add_source(making, "z", key, is_timed=False)
    making.streams.pop()
    making.nodes.append(
        {
            "type": "aggregate",
            "name": "most",
            "input": "z",
            "config": {"group_by": [], "cxl": "emit most = max(n)"},
        }
    )
    variable = _declared(making, "pipeline", "int")
    state = {"scope": "pipeline", "phase": "init"}
    assignment = {"var": variable[1], "cxl": "most"}
    making.nodes.append(
        {
            "type": "state",
            "name": "before",
            "input": "most",
            "config": {**state, "set": [assignment]},
        }
    )
    making.streams = [
        Stream(each.name, each.has_more, each.variables | {variable}) for each in making.streams
    ]


# Expressions


def _some(random: Random, prefix: str = "") -> str:
    """A condition that holds for some records."""
    modulus = random.randint(2, 9)
    return f"{prefix}n % {modulus} == {random.randrange(modulus)}"


def _number(making: Making, stream: Stream | None = None, prefix: str = "") -> str:
    """A number made of a record, which fails for some."""
    random, n = making.random, f"{prefix}n"
    choices = [
        n,
        f"{n} + 1",
        f"{n} * 2",
        f"if {_some(random, prefix)} then 1 / 0 else {n}",
        f"12 / ({n} - {random.randint(0, 9)})",
        f"{n} ?? {random.randint(0, 9)}",
    ]
    choices += [f"{n} + $config.{name}" for name in making.parameters]
    if not prefix:
        choices += ["$source.row ?? n", "if $source.name == 'a' then n + 1 else n"]
        choices += ["$pipeline.total_count ?? n", "$pipeline.dlq_count ?? n"]
    read = list(stream.variables) if stream else []
    if read and making.chance(0.6):
        variable = random.choice(sorted(read))
        making.taken.add(variable)
        return f"({n} ?? 0) + (${'.'.join(variable)} ?? {random.randint(0, 3)})"
    return random.choice(choices)


# Transforms


def _add(
    making: Making, kind: str, name: str, stream: Stream, config: Node, *leaving: Stream
) -> None:
    making.add({"type": kind, "name": name, "input": stream.name, "config": config}, *leaving)


def _behind(stream: Stream, name: str, *, has_more: bool = False) -> Stream:
    return Stream(name, has_more or stream.has_more, stream.variables)


def _transform(making: Making) -> None:
    random, stream = making.random, making.stream()
    name = making.name("t")
    lines = random.sample(
        [
            f"emit n = {_number(making, stream)}",
            f"emit n = {_number(making, stream)}",
            f"filter not ({_some(random)})",
            "filter n > 2",
            "distinct by k",
            "distinct",
            "emit id = 'same'",
            "let m = n + 1 emit n = m * m",
            f"emit k = if {_some(random)} then 'p' else k",
            "emit meta seen = n",
            "emit n = ($meta.seen ?? 0) + n",
            "emit t = $source.event_time ?? t",
            f"trace warn if {_some(random)} then 'some'",
        ],
        random.randint(1, 3),
    )
    config: Node = {}
    if making.chance(0.15):
        lines.append(_block(making))
        config["max_expansion"] = random.choice([1, 2, 3, 100])
    config["cxl"] = "\n".join(lines)
    if making.chance(0.25):
        config["validations"] = [_validation(random) for _ in range(random.randint(1, 2))]
    if making.chance(0.1):
        config["log"] = [
            {"level": "debug", "when": "per_record", "message": "seen", "condition": "n > 3"}
        ]
    _add(making, "transform", name, stream, config, _behind(stream, name))


def _block(making: Making) -> str:
    random = making.random
    array = random.choice(
        ["[n, 7]", f"if {_some(random)} then [] else [1, n, 5]", "[n, n, n]", "if n > 3 then [2]"]
    )
    outer = random.choice(["", "", " outer"])
    inner = random.choice(
        ["emit n = e", f"emit n = 12 / (e - {random.randint(0, 9)})", "emit n = (e ?? 0) + n"]
    )
    return f"emit each{outer} e in {array} {{ {inner} }}"


def _validation(random: Random) -> Node:
    check: Node = random.choice(
        [
            {"check": "n > 1"},
            {"check": f"not ({_some(random)})"},
            {"check": "12 / n > 1"},
            {"field": "id", "check": "not_empty"},
            {"field": "n", "check": "not_null"},
            {"field": "n", "check": "range", "args": {"min": 1, "max": 8}},
            {"field": "k", "check": "one_of", "args": {"values": ["p", "q"]}},
        ]
    )
    return check | {"severity": random.choice(["error", "error", "warn"])}


def _window(making: Making) -> None:
    random, stream = making.random, making.stream()
    name = making.name("w")
    argument = _number(making)
    while "$" in argument:
        argument = _number(making)
    function = random.choice(
        [
            f"sum({argument})",
            "count()",
            "row_number()",
            "rank()",
            "lag(1).n",
            "lead(1).n",
            "first().n",
            "last().n",
            f"max({argument})",
            "min(n)",
        ]
    )
    value = random.choice([f"$window.{function}", f"12 / (($window.{function} ?? 1) - 4)"])
    window: Node = {"group_by": random.choice([["k"], ["id"], [], ["id", "k"]])}
    if making.chance(0.7):
        key = {"field": random.choice(["n", "t"]), "order": random.choice(["asc", "desc"])}
        window["sort_by"] = [key]
    if making.chance(0.3):
        rows = ["unbounded_preceding..unbounded_following", "1 preceding..1 following"]
        window["frame"] = {"rows": random.choice(rows)}
    config = {"analytic_window": window, "cxl": f"emit n = {value}"}
    _add(making, "transform", name, stream, config, _behind(stream, name))


def _look_up(making: Making) -> None:
    """What another source has for the values of a record."""
    if making.depth:
        return
    random, stream = making.random, making.stream()
    name = making.name("l")
    function = random.choice(
        ["count()", "first().n", "last().n", "sum(n)", "max(12 / (n - 3))", "min(n)"]
    )
    window: Node = {
        "source": random.choice(sorted(making.shared.data)),
        "group_by": random.choice([["k"], ["id"], ["id", "k"]]),
    }
    if making.chance(0.5):
        window["sort_by"] = [{"field": "n", "order": random.choice(["asc", "desc"])}]
    config = {"analytic_window": window, "cxl": f"emit n = (n ?? 0) + ($window.{function} ?? 0)"}
    _add(making, "transform", name, stream, config, _behind(stream, name))


# Routes and merges


def _route(making: Making) -> None:
    random, stream = making.random, making.stream()
    name = making.name("r")
    fails = f"if {_some(random)} then 1 / 0 > 0 else n > 3"
    conditions = {"one": random.choice(["n > 2", fails]), "two": "n < 6"}
    config: Node = {"conditions": conditions, "default": "rest"}
    config["mode"] = random.choice(["inclusive", "exclusive"])
    branches = [_behind(stream, f"{name}.{branch}") for branch in ("one", "two", "rest")]
    _add(making, "route", name, stream, config, *branches)


def _merge(making: Making) -> None:
    random = making.random
    alike = [each for each in making.streams if not each.has_more]
    if len(alike) < 2:
        return
    chosen = random.sample(alike, min(len(alike), random.choice([2, 2, 3])))
    name = making.name("m")
    config: Node = random.choice(
        [{}, {}, {"mode": "interleave"}, {"mode": "interleave", "interleave_seed": 7}]
    )
    inputs = [each.name for each in chosen]
    variables = frozenset[Variable]().union(*(each.variables for each in chosen))
    node = {"type": "merge", "name": name, "inputs": inputs, "config": config}
    making.add(node, Stream(name, False, _of_all(variables)))


def _of_all(variables: Iterable[Variable]) -> frozenset[Variable]:
    """The variables that can be read by their names where several sources meet."""
    return frozenset(each for each in variables if each[0] != "source")


# Aggregates


def _aggregate(making: Making) -> None:
    random, stream = making.random, making.stream()
    name = making.name("g")
    by = random.choice([["id"], ["k"], ["id", "k"], []])
    lines, has_more = _sums(making, by)
    _grouped(making, name, stream, {"group_by": by, "cxl": lines}, has_more=has_more)
    if making.chance(0.5):
        _doubt(making)


def _doubt(making: Making) -> None:
    """A transform that fails for some groups."""
    stream, name = making.streams[-1], making.name("t")
    modulus = making.random.randint(2, 4)
    cxl = f"emit n = if n % {modulus} == 1 then 1 / 0 else n"
    _add(making, "transform", name, stream, {"cxl": cxl}, _behind(stream, name))


def _time_window(making: Making) -> None:
    random, stream = making.random, making.stream()
    name = making.name("x")
    by = random.choice([["id"], ["k"], ["id", "k"], []])
    window = random.choice(
        [
            {"tumbling": {"size": "1h"}},
            {"hopping": {"size": "1h", "slide": "30m"}},
            {"hopping": {"size": "30m", "slide": "1h"}},
            {"session": {"gap": "15m"}},
            {"session": {"gap": "40m"}},
        ]
    )
    lines, has_more = _sums(making, by)
    config: Node = {"group_by": by, "time_window": window, "cxl": lines}
    if making.chance(0.4):
        config["allowed_lateness"] = random.choice(["10m", "1h"])
    _grouped(making, name, stream, config, has_more=has_more)
    if making.chance(0.3):
        _doubt(making)


def _sums(making: Making, by: list[str]) -> tuple[str, bool]:
    random = making.random
    total = random.choice(
        [
            "sum(n)",
            "count(*)",
            "max(n)",
            "first(n)",
            "last(n)",
            f"sum({_number(making)})",
            "sum(n) + 12 / (sum(n) - 7)",
            f"count(*) + 12 / (count(*) - {random.randint(1, 3)})",
        ]
    )
    others = [
        f"emit {other} = {random.choice(['min', 'first', 'last'])}({other})"
        for other in ("id", "k", "t")
        if other not in by
    ]
    before = [f"filter not ({_some(random)})"] if making.chance(0.15) else []
    has_more = making.chance(0.15)
    more = ["emit each_n = collect(n)"] if has_more else []
    return "\n".join([*before, *others, f"emit n = {total}", *more]), has_more


def _grouped(making: Making, name: str, stream: Stream, config: Node, *, has_more: bool) -> None:
    _add(making, "aggregate", name, stream, config, Stream(name, has_more, _final(stream)))


def _final(stream: Stream) -> frozenset[Variable]:
    """The variables whose last values can be read where records become groups."""
    return frozenset(each for each in stream.variables if each[0] == "pipeline")


# Combines


def _combine(making: Making) -> None:
    random = making.random
    driver = making.stream()
    others = [each for each in making.streams if each != driver]
    count = random.choice([1, 1, 2])
    if len(others) < count:
        return
    builds = dict(zip("bc", random.sample(others, count), strict=False))
    name = making.name("c")
    match = random.choice(["first", "all", "all", "collect"])
    config: Node = {
        "where": _where(random, count),
        "match": match,
        "on_miss": random.choice([*["skip", "null_fields"] * 5, "error"]),
        "propagate_ck": random.choice(
            ["driver", "all", "all", {"named": ["id"]}, {"named": ["k"]}, {"named": ["id", "k"]}]
        ),
    }
    if making.chance(0.25):
        config["correlation_fanout_policy"] = random.choice(["any", "all", "primary"])
    if match != "collect":
        value = random.choice(["d.n", "(d.n ?? 0) + (b.n ?? 0)", _number(making, None, "d.")])
        lines = ["emit id = d.id", f"emit k = {random.choice(['d.k', 'b.k'])}", "emit t = d.t"]
        if making.chance(0.15):
            lines.append("filter d.n > 1")
        config["cxl"] = "\n".join([*lines, f"emit n = {value}"])
    making.add(
        {
            "type": "combine",
            "name": name,
            "input": {"d": driver.name, **{label: each.name for label, each in builds.items()}},
            "config": config,
        },
        Stream(name, match == "collect", _of_all(driver.variables)),
    )


def _where(random: Random, count: int) -> str:
    parts = [random.choice(["d.k == b.k", "d.id == b.id", "d.n == b.n", "d.n <= b.n"])]
    if count == 2:
        parts.append(random.choice(["d.id == c.id", "b.n == c.n", "b.k == c.k and c.n >= d.n"]))
    if count == 1 and random.random() < 0.15:
        parts.append(f"12 / ({random.choice('db')}.n - {random.randint(0, 9)}) != 3")
    elif random.random() < 0.3:
        parts.append(random.choice(["b.n > 3", "d.n < b.n + 3", f"not ({_some(random, 'b.')})"]))
    return " and ".join(parts)


# State


def _declared(making: Making, scope: str, type_: str) -> Variable:
    name = making.name("v")
    declared: Node = {"type": type_}
    if making.chance(0.5):
        declared["default"] = 3 if type_ == "int" else "none"
    making.shared.variables[scope][name] = declared
    making.taken.add((scope, name))
    return scope, name


def _state(making: Making) -> None:
    random, stream = making.random, making.stream()
    name = making.name("s")
    scope = random.choice(["pipeline", "source", "record"])
    written: list[Variable] = []
    assignments: list[Node] = []
    for _ in range(random.choice([1, 1, 2])):
        variable = _declared(making, scope, "int")
        assignments.append({"var": variable[1], "cxl": _assigned(making, stream, variable)})
        written.append(variable)
    leaving = Stream(name, stream.has_more, stream.variables | set(written))
    _add(making, "state", name, stream, {"scope": scope, "set": assignments}, leaving)


def _assigned(making: Making, stream: Stream, variable: Variable) -> str:
    random, own = making.random, "$" + ".".join(variable)
    element = random.choice(["n", "1", f"12 / (n - {random.randint(0, 9)})", "n ?? 2"])
    return random.choice(
        [
            f"({own} ?? 0) + 1",
            f"({own} ?? 0) + ({element})",
            f"sum({element})",
            "count(*)",
            "first(n)",
            f"if {_some(random)} then ({own} ?? 0) + 1 else {own}",
            f"(({own} ?? 1) * 2) % 97",
            f"if n > {own} then n else {own}",
            f"{own} ?? n",
            _number(making, stream),
        ]
    )


# Compositions


def _composition(making: Making) -> None:
    if making.depth > 1:
        return
    random = making.random
    name = making.name("call")
    ports = {f"{name}in{n}": making.stream() for n in range(random.choice([1, 1, 2]))}
    body = Making(making.random, making.shared, depth=making.depth + 1, parameters=["step"])
    body.streams = [Stream(port, given.has_more) for port, given in ports.items()]
    for _ in range(random.randint(1, 2)):
        add_node(body)
    made = body.streams[len(ports) :]
    if not made:
        return
    file = f"{name}.comp.yaml"
    making.taken |= body.taken
    scoped: Node = {}
    for scope, variable in sorted(body.taken):
        declared = making.shared.variables[scope][variable]
        scoped.setdefault(scope, {})[variable] = {"type": declared["type"]}
    outputs = {f"out{number}": each for number, each in enumerate(made)}
    making.shared.compositions[file] = {
        "_compose": {
            "name": name,
            "inputs": {port: {} for port in ports},
            "outputs": {port: each.name for port, each in outputs.items()},
            "config_schema": {"step": {"type": "int", "default": 1}},
            "scoped_vars": scoped,
        },
        "nodes": body.nodes,
    }
    call: Node = {
        "type": "composition",
        "name": name,
        "use": file,
        "inputs": {port: given.name for port, given in ports.items()},
    }
    if making.chance(0.6):
        call["config"] = {"step": random.randint(0, 5)}
    variables = frozenset[Variable]().union(*(given.variables for given in ports.values()))
    kept = _final(Stream("", False, variables))
    making.add(
        call,
        *(
            Stream(f"{name}.{port}", each.has_more, each.variables | kept)
            for port, each in outputs.items()
        ),
    )
