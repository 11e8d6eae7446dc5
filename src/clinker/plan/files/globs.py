"""Globs: patterns over whole paths, and the files that match them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath

from clinker.diagnostics import Span
from clinker.plan.files.paths import (
    NOT_PLAIN,
    display_name,
    fixed_key,
    fixed_part,
    is_file,
    is_pattern,
    resolve,
)
from clinker.stores.access import ObjectFacts, StoreError, list_objects
from clinker.stores.urls import ASIDE, FilePath, ObjectUrl


class GlobError(ValueError):
    """A glob that cannot be understood; `span` is the part of it that is wrong."""

    def __init__(self, message: str, help: str, span: Span) -> None:
        super().__init__(message)
        self.help = help
        self.span = span


@lru_cache(maxsize=256)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """A glob over whole paths: `*` and `?` stay inside a component, `**` crosses components."""
    start = 0
    text = ""
    parts = pattern.split("/")
    for position, part in enumerate(parts):
        is_last = position == len(parts) - 1
        if part == ".." and is_pattern("/".join(parts[:position])):
            raise GlobError(
                "'..' follows a wildcard",
                "write it before the first wildcard, as in ../data/*.csv",
                Span(start, start + 2),
            )
        if part == "**":
            text += ".*" if is_last else "(?:[^/]+/)*"
        else:
            text += _component(part, start) + ("" if is_last else "/")
        start += len(part) + 1
    return re.compile(text, re.S)


def _component(part: str, start: int) -> str:
    if "**" in part:
        at = start + part.index("**")
        raise GlobError(
            "'**' stands for whole directories",
            "write it between slashes, as in data/**/*.csv",
            Span(at, at + 2),
        )
    text = ""
    rest = part
    while rest:
        character, rest = rest[0], rest[1:]
        if character == "*":
            text += "[^/]*"
        elif character == "?":
            text += "[^/]"
        elif character == "[":
            at = start + len(part) - len(rest) - 1
            members, rest = _class(rest, at)
            text += members
        else:
            text += re.escape(character)
    return text


def _class(rest: str, at: int) -> tuple[str, str]:
    """`[abc]`, `[a-z]` or `[!abc]` as a regular expression, and what follows it."""
    negated = rest[:1] == "!"
    body = rest[1:] if negated else rest
    # A bracket that comes first is a member.
    end = body.find("]", 1)
    if end < 0:
        raise GlobError("'[' is never closed", "write [[] for a literal bracket", Span(at, at + 1))
    members = ""
    for low, high, single in re.findall(r"(.)-(.)|(.)", body[:end], re.S):
        if low > high:
            span = Span(at, at + len(rest) - len(body) + end + 2)
            raise GlobError(f"the range {low}-{high} is empty", f"write {high}-{low}", span)
        members += re.escape(single) or f"{re.escape(low)}-{re.escape(high)}"
    return f"[{'^/' if negated else ''}{members}]", body[end + 1 :]


def matches_any(patterns: Sequence[str], path: FilePath, base_dir: Path) -> bool:
    """Whether a glob matches the path, as seen from the base directory or in full, or its name; of
    an object its URL, key or name."""
    if isinstance(path, ObjectUrl):
        shown = {str(path), path.key, path.name}
    else:
        shown = {display_name(path, base_dir), path.absolute().as_posix(), path.name}
    compiled = [compile_glob(pattern.removeprefix("./")) for pattern in patterns]
    return any(glob.fullmatch(text) for glob in compiled for text in shown)


def expand_glob(pattern: str, base_dir: Path) -> Iterator[Path]:
    """Every file a glob matches, in no particular order."""
    fixed = fixed_part(pattern)
    start = resolve(fixed, base_dir)
    rest = PurePosixPath(pattern).relative_to(fixed).parts
    if rest:
        yield from _expand(start, rest)
    elif is_file(start):
        yield start


def _expand(directory: Path, parts: Sequence[str]) -> Iterator[Path]:
    part, rest = parts[0], parts[1:]
    if part == "**":
        if rest:
            yield from _expand(directory, rest)
        for entry in list_entries(directory):
            # Links inside a tree may lead back into it.
            if entry.is_dir(follow_symlinks=False):
                yield from _expand(directory / entry.name, parts)
            elif not rest and (directory / entry.name).is_file():
                yield directory / entry.name
        return
    glob = compile_glob(part)
    for entry in list_entries(directory):
        if glob.fullmatch(entry.name):
            path = directory / entry.name
            if rest:
                yield from _expand(path, rest)
            elif path.is_file():
                yield path


def matching_objects(pattern: ObjectUrl) -> list[ObjectFacts]:
    """The objects a glob matches, in no particular order; OSError if the store refuses.

    What runs have put aside is not among them.
    """
    glob = compile_glob(pattern.key)
    fixed = fixed_key(pattern.key)
    start = ObjectUrl(pattern.scheme, pattern.authority, fixed.rstrip("/"))
    found = list_objects(start, recursive="/" in pattern.key[len(fixed) :])
    matching = [
        each
        for each in found
        if glob.fullmatch(each.url.key) and ASIDE not in each.url.key.split("/")
    ]
    for each in matching:
        if not each.url.is_plain:
            raise StoreError(f"'{each.url}' {NOT_PLAIN}")
    return matching


def list_entries(directory: Path) -> list[os.DirEntry[str]]:
    """What a directory holds; one that cannot be listed holds nothing to match."""
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except OSError:
        return []
