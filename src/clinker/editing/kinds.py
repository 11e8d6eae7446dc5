"""What kind of file a text is: by its name, else by the keys it begins with."""

from __future__ import annotations

import enum
import re
from pathlib import Path

YAML_ENDS = (".yaml", ".yml")


class FileKind(enum.StrEnum):
    PIPELINE = "pipeline"
    CHANNEL = "channel"
    COMPOSITION = "composition"
    SCHEMA = "schema"
    WORKSPACE = "workspace"
    PROGRAM = "program"


_ENDS = {
    ".channel": FileKind.CHANNEL,
    ".comp": FileKind.COMPOSITION,
    ".schema": FileKind.SCHEMA,
}
_TOP_KEY = re.compile(r"^(?P<quote>[\"']?)(?P<key>[A-Za-z_]\w*)(?P=quote)[ \t]*:", re.M)
_NAMED = re.compile(r"^pipeline:\s*(?:#[^\n]*\n\s+|\{\s*)?name:", re.M)
_KINDS = {
    "pipeline": FileKind.PIPELINE,
    "_compose": FileKind.COMPOSITION,
    "composition": FileKind.COMPOSITION,
    "channel": FileKind.CHANNEL,
}


def kind_of(path: Path, text: str) -> FileKind | None:
    """The kind of a file; None if nothing tells that it is one of ours.

    A text that is being written has few keys or a broken one, so the first known key decides.
    """
    name = path.name.lower()
    if name == "clinker.toml":
        return FileKind.WORKSPACE
    if name.endswith(".cxl"):
        return FileKind.PROGRAM
    if not name.endswith(YAML_ENDS):
        return None
    if kind := _ENDS.get(Path(path.stem.lower()).suffix):
        return kind
    keys = [match["key"] for match in _TOP_KEY.finditer(text)]
    known = (_KINDS[key] for key in keys if key in _KINDS)
    kind = next(known, None)
    # A workflow of another tool may have such a key, but neither nodes beside it nor a name in it.
    if kind is FileKind.CHANNEL or (kind is FileKind.PIPELINE and _NAMED.search(text)):
        return kind
    return kind or FileKind.PIPELINE if "nodes" in keys else None
