"""A pretty printer after Wadler: what fits stays on one line, what does not breaks from outside in.

A document is text with places where lines may break. A group either fits and stays flat or breaks
at every `Line` that is directly in it; the groups inside it then decide for themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from clinker.frozen import frozen

Doc: TypeAlias = "str | Line | IfBroken | Remark | Indent | Group | tuple[Doc, ...]"

INDENT = 2


@frozen
class Line:
    """A possible line break; `flat` is what stands there instead, `blank` adds an empty line."""

    flat: str = " "
    blank: bool = False


@frozen
class IfBroken:
    """Text that is only there when the group around it breaks."""

    text: str


@frozen
class Remark:
    """Text that runs to the end of its line: it breaks the groups around it but takes no room."""

    text: str


@frozen
class Indent:
    body: Doc


@frozen
class Group:
    body: Doc
    broken: bool


def group(*parts: Doc, broken: bool = False) -> Group:
    return Group(parts, broken or _has_to_break(parts))


def _has_to_break(doc: Doc) -> bool:
    match doc:
        case Remark():
            return True
        case Group():
            return doc.broken
        case Indent():
            return _has_to_break(doc.body)
        case tuple():
            return any(_has_to_break(part) for part in doc)
        case _:
            return False


@frozen
class _Task:
    indent: int
    flat: bool
    doc: Doc


def render(doc: Doc, width: int) -> str:
    """The text of `doc`, in lines of at most `width` characters where its breaks allow it."""
    return "".join(_texts(_Task(0, False, doc), width))


def render_flat(doc: Doc) -> str:
    """The text of `doc` in a single line."""
    return "".join(_texts(_Task(0, True, doc), 0))


def starts_with(doc: Doc, prefix: str) -> bool:
    return next(filter(None, _texts(_Task(0, True, doc), 0)), "").startswith(prefix)


def _texts(start: _Task, width: int) -> Iterator[str]:
    column = 0
    tasks = [start]
    while tasks:
        task = tasks.pop()
        indent, flat, doc = task.indent, task.flat, task.doc
        match doc:
            case str():
                yield doc
                column += len(doc)
            case Remark():
                yield doc.text
            case Line() if not flat:
                yield ("\n\n" if doc.blank else "\n") + " " * indent
                column = indent
            case Line():
                tasks.append(_Task(indent, flat, doc.flat))
            case IfBroken():
                tasks.append(_Task(indent, flat, "" if flat else doc.text))
            case Indent():
                tasks.append(_Task(indent + INDENT, flat, doc.body))
            case Group():
                flat = flat or (not doc.broken and _fits(doc.body, tasks, width - column))
                tasks.append(_Task(indent, flat, doc.body))
            case tuple():
                tasks.extend(_Task(indent, flat, part) for part in reversed(doc))


def _fits(doc: Doc, following: Sequence[_Task], room: int) -> bool:
    """Whether `doc` fits flat, with all that stands between it and the next line break."""
    coming = len(following)
    pending: list[tuple[bool, Doc]] = [(True, doc)]
    while room >= 0:
        if not pending:
            if not coming:
                return True
            coming -= 1
            pending.append((following[coming].flat, following[coming].doc))
        flat, part = pending.pop()
        match part:
            case str():
                room -= len(part)
            case Line() if not flat:
                return True
            case Line():
                room -= len(part.flat)
            case IfBroken():
                room -= 0 if flat else len(part.text)
            case Indent() | Group():
                pending.append((flat, part.body))
            case tuple():
                pending.extend((flat, inner) for inner in reversed(part))
    return False
