"""Projects to begin with: copies of the examples that come with the package."""

from __future__ import annotations

import json
from pathlib import Path

START = "start"
"""The project for whoever names no example."""
_EXAMPLES = Path(__file__).parent / "examples"
_MADE_BY_RUNS = "output"


class Occupied(Exception):
    """Files are in the way of a new project."""

    def __init__(self, files: list[Path]) -> None:
        super().__init__(", ".join(map(str, files)))
        self.files = files


def list_examples() -> list[str]:
    """The names of the examples."""
    return sorted(folder.name for folder in _EXAMPLES.iterdir() if folder.is_dir())


def make_project(directory: Path, example: str) -> list[Path]:
    """Copy an example; the files that were made, as seen from there.

    `Occupied` if one of them exists: nothing is overwritten, and then nothing is made.
    """
    contents = _contents(example)
    if taken := [name for name in contents if (directory / name).exists()]:
        raise Occupied(taken)
    for name, content in contents.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as stream:
            stream.write(content)
    return list(contents)


def _contents(example: str) -> dict[Path, bytes]:
    """What a project is made of, by where it is in it."""
    root = _EXAMPLES / example
    files = sorted(path for path in root.rglob("*") if path.is_file())
    contents = {path.relative_to(root): path.read_bytes() for path in files}
    contents = {
        name: content for name, content in contents.items() if name.parts[0] != _MADE_BY_RUNS
    }
    return contents | (_schemas() if example == START else {})


def _schemas() -> dict[Path, bytes]:
    """What editors check files by."""
    from clinker.config.json_schema import case_json_schema, pipeline_json_schema

    schemas = {"pipeline": pipeline_json_schema(), "test": case_json_schema()}
    return {
        Path(".clinker", f"{kind}.schema.json"): json.dumps(schema, indent=2).encode() + b"\n"
        for kind, schema in schemas.items()
    }
