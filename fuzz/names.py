"""Names of columns that someone made up to do harm, many of them in every run."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from clinker.diagnostics.render import render_text
from clinker.engine.report.explain import explain
from clinker.engine.report.facts import RunError
from clinker.engine.run.observer import Quiet
from clinker.engine.run.run import run_in
from clinker.engine.session.session import Session
from clinker.plan.compile import Plan, compile_pipeline
from clinker.plan.options import Options
from fuzz.engine import answers
from fuzz.findings import Finding, Kind, Tally, Wrong, dice, judged, smallest

AREA = "names"
_PER_RUN = 100
_PATIENCE = 300.0
_TRIALS = 40
_COMPUTED = ("id", "n", "c")
"""Columns that the pipeline has anyway."""
_PIECES = (
    *("${x}", "${env:HOME}", "${spark.app.name}"),
    *(
        "$",
        "{",
        "}",
        "`",
        "``",
        "'",
        '"',
        "\\",
        ".",
        "..",
        "*",
        "%",
        "%s",
        "(",
        ")",
        ";",
        "--",
        "/*",
    ),
    *(
        "\n",
        "\r",
        "\t",
        "\x01",
        "\x1f",
        "\x7f",
        "\x85",
        "\u2028",
        "\ufeff",
        " ",
        ",",
        ":",
        "->",
        "@",
    ),
    *(
        "pos",
        "reject",
        "source",
        "widened",
        "meta.",
        "origin.",
        "ck.",
        "env:HOME",
        "spark.app.name",
    ),
    *(
        "1",
        "2",
        "id",
        "ID",
        "x",
        "e",
        "it",
        "ä",
        "a\u0308",
        "𝄞",
        "select",
        "null",
        " AS ",
        "_cxl_dlq_id",
    ),
)
_ENGINES_OWN = re.compile(r"\$[a-z0-9]")


@dataclass(frozen=True)
class Case:
    """The columns of a file, some of which are declared."""

    format: str
    names: tuple[str, ...]
    declared: frozenset[str]

    def of(self, names: Sequence[str]) -> Case:
        return replace(self, names=tuple(names))

    @property
    def schema(self) -> list[str]:
        return [name for name in self.names if name in self.declared]


def play(seed: int, rounds: range, tally: Tally, session: Session | None) -> None:
    """Without a session the names go through the compilers alone."""
    for start in rounds[::_PER_RUN]:
        numbers = range(start, min(start + _PER_RUN, rounds.stop))
        by_name = {made(dice(seed, AREA, number)): number for number in numbers}
        tally.tried[AREA] += len(numbers)
        case = _case(dice(seed, f"{AREA} together", start), tuple(by_name))
        if wrong := _wrong(case, session):
            is_there = session is None or answers(session)
            part = partial(_part, case, session)
            least = case.of(smallest(case.names, wrong.kind, part, _TRIALS if is_there else 0))
            number = next((by_name[name] for name in least.names), start)
            shown = f"{least.format} with columns {least.names!r}, declared {least.schema!r}"
            tally.findings.append(Finding(AREA, number, wrong.kind, wrong.detail, shown))
            if not is_there:
                return


def _part(case: Case, session: Session | None, names: Sequence[str]) -> Wrong | None:
    return _wrong(case.of(names), session)


def _wrong(case: Case, session: Session | None) -> Wrong | None:
    return judged(lambda: check(case, session), _PATIENCE)


def _case(chance: random.Random, names: tuple[str, ...]) -> Case:
    format = chance.choice(["csv", "json"])
    names = tuple(name for name in names if name not in _COMPUTED)
    declared = frozenset(
        name
        for name in names
        # A dot in the name of a declared column of JSON is a path.
        if not (_ENGINES_OWN.match(name) or (format == "json" and "." in name))
        and chance.random() < 0.5
    )
    return Case(format, names, declared)


def made(chance: random.Random) -> str:
    if chance.random() < 0.02:
        return chance.choice(_PIECES) * chance.randint(1000, 4000)
    begin = "$" if chance.random() < 0.3 else ""
    return begin + "".join(chance.choices(_PIECES, k=chance.randint(1, 4)))


def check(case: Case, session: Session | None) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        plan = _planned(_pipeline(case), folder)
        if session is None:
            for form in ("text", "json", "sql"):
                explain(plan, form)
            return
        others = {name: f"v{at}" for at, name in enumerate(case.names)}
        _write(folder / "in", case.format, [{"id": n, **others} for n in ("1", "bad", "2")])
        try:
            run_in(plan, session, Quiet())
        except RunError as problem:
            raise Wrong(Kind.LOST, f"{problem.message}\n{problem.help}") from None
        expected = [{"id": n, "n": 2 * n, **others} for n in (1, 2)]
        _compare("all", json.loads((folder / "all.json").read_text()), expected)
        cells = [{name: str(value) for name, value in record.items()} for record in expected]
        _compare("cells", _cells(folder / "cells.csv"), cells)
        _compare("rejected", [_rejected(folder, case)], [{"id": "bad", **others}])
        if case.schema:
            group = {**{name: others[name] for name in case.schema}, "c": 2}
            _compare("groups", json.loads((folder / "groups.json").read_text()), [group])


def _cells(path: Path) -> list[dict[str, str]]:
    rows = list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def _rejected(folder: Path, case: Case) -> dict[str, str]:
    (entry,) = _cells(folder / "rejected.csv")
    return {name: entry[name] for name in ("id", *case.names) if name in entry}


def _compare(what: str, found: Sequence[Mapping[str, Any]], expected: Sequence[Any]) -> None:
    if len(found) != len(expected):
        raise Wrong(Kind.LOST, f"{what}: {len(found)} records, expected {len(expected)}")
    if list(found) != list(expected):  # the order of columns is not looked at
        odd = [
            (name, record.get(name))
            for record, want in zip(found, expected, strict=True)
            for name in {**want, **record}
            if record.get(name) != want.get(name)
        ]
        raise Wrong(Kind.DIFFERENT, f"{what}: {odd[:3]!r}")


def _planned(pipeline: str, folder: Path) -> Plan:
    compiled = compile_pipeline(pipeline.encode(), "pipeline.yaml", Options(base_dir=folder))
    if compiled.plan is None:
        raise Wrong(Kind.LOST, render_text(compiled.diagnostics))
    return compiled.plan


def _write(path: Path, format: str, records: Sequence[Mapping[str, str]]) -> None:
    if format == "json":
        path.write_text(json.dumps(records))
        return
    with path.open("w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(records[0])
        writer.writerows(record.values() for record in records)


def _pipeline(case: Case) -> str:
    types = {"id": "int", **dict.fromkeys(case.schema, "string")}
    schema = [{"name": name, "type": type_} for name, type_ in types.items()]
    nodes = [
        _node("source", "rows", None, type=case.format, path="in", schema=schema),
        _node("transform", "t", "rows", cxl="let k = id * 2\nemit n = k"),
        _node("output", "all", "t", type="json", path="all.json"),
        _node("output", "cells", "t", type="csv", path="cells.csv"),
        _node("output", "none", "t", type="csv", path="none.csv", exclude=list(case.names)),
    ]
    if case.schema:
        cxl = "emit c = count(*)"
        nodes.append(_node("aggregate", "g", "t", group_by=case.schema, cxl=cxl))
        nodes.append(_node("output", "groups", "g", type="json", path="groups.json"))
    handling = {"strategy": "continue", "dlq": {"path": "rejected.csv"}}
    return _yaml({"pipeline": {"name": "p"}, "nodes": nodes, "error_handling": handling})


def _node(kind: str, name: str, reads: str | None, **config: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, **({"input": reads} if reads else {}), "config": config}


def _yaml(value: Any) -> str:
    """YAML on one line, in which nothing but letters stands for itself."""
    match value:
        case str():
            inside = (c if c.isalnum() and c.isascii() else f"\\U{ord(c):08x}" for c in value)
            return f'"{"".join(inside)}"'
        case dict():
            return f"{{{', '.join(f'{_yaml(k)}: {_yaml(v)}' for k, v in value.items())}}}"
        case list():
            return f"[{', '.join(map(_yaml, value))}]"
        case _:
            return json.dumps(value)
