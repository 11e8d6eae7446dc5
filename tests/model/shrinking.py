"""A case that goes wrong, made as small as it can be."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from .generate import Case, Node


def smaller(case: Case, is_wrong: Callable[[Case], bool]) -> Case:
    """The case without all that it goes wrong without."""
    while True:
        found = next(filter(is_wrong, _candidates(case)), None)
        if found is None:
            return case
        case = found


def _candidates(case: Case) -> Iterator[Case]:
    for number in range(len(case.nodes)):
        without = copy.deepcopy(case)
        node = without.nodes.pop(number)
        yield without
        for name in _inputs(node):
            yield _bypassing(without, node["name"], name)
    for source, files in case.data.items():
        for file, records in enumerate(files):
            for at in range(len(records)):
                without = copy.deepcopy(case)
                del without.data[source][file][at]
                yield without
    for number, node in enumerate(case.nodes):
        for name in node.get("config", {}):
            without = copy.deepcopy(case)
            del without.nodes[number]["config"][name]
            yield without
        lines = str(node.get("config", {}).get("cxl", "")).split("\n")
        for at in range(len(lines)):
            without = copy.deepcopy(case)
            without.nodes[number]["config"]["cxl"] = "\n".join(lines[:at] + lines[at + 1 :])
            if len(lines) > 1:
                yield without


def _inputs(node: Node) -> list[str]:
    given: Any = node.get("input", node.get("inputs", []))
    if isinstance(given, str):
        return [given]
    return list(given.values() if isinstance(given, dict) else given)


def _bypassing(case: Case, name: str, instead: str) -> Case:
    """The case whose nodes read what a node has read, in its place."""
    changed = copy.deepcopy(case)

    def put(given: Any) -> Any:
        match given:
            case str():
                return instead if given.split(".")[0] == name else given
            case dict():
                return {label: put(each) for label, each in given.items()}
        return [put(each) for each in given]

    for node in changed.nodes:
        for key in {"input", "inputs"} & node.keys():
            node[key] = put(node[key])
    return changed
