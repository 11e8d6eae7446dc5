"""`cxl functions`: the built-ins as their declarations describe them."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from clinker.cxl.builtins.catalogue import every_builtin, heading, summary
from clinker.cxl.builtins.declare import Builtin
from clinker.diagnostics.suggest import did_you_mean

_TITLES = {
    "strings": "String methods",
    "numeric": "Numeric methods",
    "dates": "Date and time methods",
    "conversion": "Conversion methods",
    "introspection": "Introspection",
    "paths": "Path methods",
    "arrays": "Array methods",
    "maps": "Map methods",
    "aggregates": "Aggregate functions",
    "windows": "Window functions",
}


def run(args: Namespace) -> int:
    if args.name is None:
        _list()
        return 0
    name = args.name.removeprefix("$window.").removesuffix("()")
    builtins = [builtin for builtin in every_builtin() if builtin.name == name]
    if not builtins:
        help = did_you_mean(name, sorted({b.name for b in every_builtin()}))
        print(f"error: unknown built-in '{args.name}'", file=sys.stderr)
        if help:
            print(f"  help: {help}", file=sys.stderr)
        return 1
    print("\n\n".join(_page(builtin) for builtin in builtins))
    return 0


def _list() -> None:
    families: dict[str, list[Builtin]] = {family: [] for family in _TITLES}
    for builtin in sorted(every_builtin(), key=_place):
        families[builtin.family].append(builtin)
    for family, title in _TITLES.items():
        print(f"{title} ({len(families[family])})")
        _print_table([(heading(b), summary(b)) for b in families[family]])
        print()
    print("Run `cxl functions NAME` for the details and examples of one of them.")


def _place(builtin: Builtin) -> int:
    """Where a built-in stands in the module of its family."""
    return builtin.call.__code__.co_firstlineno


def _print_table(rows: Sequence[tuple[str, str]]) -> None:
    width = max(len(left) for left, _ in rows)
    for left, right in rows:
        print(f"  {left:<{width}}  {right}")


def _page(builtin: Builtin) -> str:
    lines = [heading(builtin), "", builtin.documentation, "", "Examples:"]
    for example in builtin.examples:
        given = f"   given {example.given}" if example.given else ""
        lines += [f"  {example.expression}{given}", f"    {example.expected}"]
    return "\n".join(lines)
