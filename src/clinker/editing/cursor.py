"""Where in a YAML file a place is, however broken the text around it.

While somebody types, a file rarely parses. So only the item around the cursor is read, with a mark
where the cursor stands, in the ways in which the line may be meant to go on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from clinker.config.interpolate import verbatim
from clinker.config.tree import MappingNode, Node, ScalarNode, SequenceNode
from clinker.config.yaml import parse_yaml
from clinker.diagnostics import Source
from clinker.frozen import frozen

MARK = "\ue000\ue001\ue002"
"""What no text holds; characters that are kept for private use."""

_TOP_KEY = re.compile(r"[^\s#\-][^#]*:")
_BARE_KEY = re.compile(r"[ -]*[\w\"']+:")
_WORD = re.compile(r"\w*\Z")
_ITEM = re.compile(r"( *)-(?: |$)")


@frozen(eq=False)
class Cursor:
    """A place in a file."""

    path: tuple[str | int, ...]
    """The keys and positions that lead to it."""
    tree: Node
    """What surrounds it, from the top of the file on, with the mark in it."""
    parent: MappingNode | None
    """The mapping that a key is written in, or that the key of a value stands in."""
    is_key: bool
    text: str
    """The key or value at the cursor, with the mark."""
    begins_line: bool = False
    """Whether it stands first in its line, where a mapping could begin as well."""

    def spelled(self, spell_out: Callable[[Node], Node]) -> Cursor | None:
        """The same place once abbreviations are spelled out."""
        return _in_tree(spell_out(self.tree), self.begins_line)

    @property
    def before(self) -> str:
        return self.text.partition(MARK)[0]


def locate(text: str, offset: int) -> Cursor | None:
    """The place of an offset; None in comments and where nothing can be made of the text."""
    line_start = text.rfind("\n", 0, offset) + 1
    line_end = text.find("\n", offset)
    line_end = len(text) if line_end < 0 else line_end
    before = text[line_start:offset]
    begins_line = not before[: len(before) - len(_WORD.findall(before)[0])].strip(" -")
    for marked in _attempts(before, text[offset:line_end]):
        around = _item_around(text, line_start, line_end)
        whole = around[0] + marked + around[1]
        tree, _ = parse_yaml(verbatim(Source("", whole)))
        cursor = tree and _in_tree(tree, begins_line)
        if cursor:
            return cursor
    return None


def _in_tree(tree: Node, begins_line: bool) -> Cursor | None:
    found = next(_find(tree, (), None), None)
    return Cursor(found[0], tree, *found[1:], begins_line) if found else None


def _attempts(before: str, after: str) -> Iterator[str]:
    """The line with the mark in it, as it is and as it may be meant."""
    rest = after.rstrip("\r")
    if _BARE_KEY.fullmatch(before):
        yield before + " " + MARK
    yield before + MARK + rest
    if rest.strip():
        yield before + MARK
    if not before.strip(" -\t"):
        yield before + MARK + ":"
    else:
        yield before + MARK + ": " + rest
        yield before + MARK + ":"
    for closing in ("}", "]", "]}", "}]", '"', "'", '"}', "'}"):
        yield before + MARK + closing


def _item_around(text: str, line_start: int, line_end: int) -> tuple[str, str]:
    """What surrounds a line: the list item of the top-level key that it stands in."""
    before = text[:line_start].split("\n")[:-1] if line_start else []
    after = text[line_end + 1 :].split("\n")
    top = next((n for n in range(len(before) - 1, -1, -1) if _TOP_KEY.match(before[n])), None)
    line = text[line_start:line_end]
    if top is None or (_TOP_KEY.match(line) and not line[:1].isspace()):
        return text[:line_start], "\n" + text[line_end + 1 :]
    first = next((_ITEM.match(line) for line in before[top + 1 :] if _ITEM.match(line)), None)
    indent = len(first[1]) if first else len(line) - len(line.lstrip(" "))
    starts = [n for n in range(top + 1, len(before)) if _starts_item(before[n], indent)]
    is_first_line = _starts_item(line, indent)
    start = len(before) if is_first_line or not starts else starts[-1]
    end = next((n for n, each in enumerate(after) if _ends_item(each, indent)), len(after))
    if not first:
        return "\n".join((*before[top:], "")), "\n" + "\n".join(after[:end])
    key = before[top].partition(":")[0] + ":"
    return "\n".join((key, *before[start:], "")), "\n" + "\n".join(after[:end])


def _starts_item(line: str, indent: int) -> bool:
    match = _ITEM.match(line)
    return match is not None and len(match[1]) == indent


def _ends_item(line: str, indent: int) -> bool:
    stripped = line.lstrip(" ")
    if not stripped or stripped.startswith("#"):
        return False
    depth = len(line) - len(stripped)
    return depth < indent or (depth == indent and stripped.startswith("-")) or not depth


def _find(
    node: Node, path: tuple[str | int, ...], parent: MappingNode | None
) -> Iterator[tuple[tuple[str | int, ...], MappingNode | None, bool, str]]:
    if isinstance(node, ScalarNode):
        if MARK in str(node.value):
            yield path, parent, False, str(node.value)
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.items):
            yield from _find(item, (*path, index), parent)
    else:
        for key, entry in node.entries.items():
            if MARK in key:
                yield path, node, True, key
            yield from _find(entry.value, (*path, key), node)
