"""The cases of the user guide: what is in their files, and how they are compiled.

`cases/README.md` describes the form of the files.
"""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from clinker.plan.compile import Compiled, compile_pipeline
from clinker.plan.options import Options

PIPELINE = "pipeline.yaml"

_FOLDER = Path(__file__).parent / "cases"
_MARKER = re.compile(rb"^-- (\S+)( \(crlf\))? --\n", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    name: str
    expectation: bytes
    files: Mapping[str, bytes]

    @property
    def pipeline(self) -> bytes:
        return self.files[PIPELINE]

    @cached_property
    def expect(self) -> Mapping[str, Any]:
        expect: Mapping[str, Any] = YAML(typ="safe", pure=True).load(self.expectation)
        return expect

    @cached_property
    def folder(self) -> Path:
        """Its files on disk, to be read only; they go with the process."""
        folder = _temporary_folder() / self.name
        self.unpack(folder)
        return folder

    def unpack(self, folder: Path) -> None:
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


@cache
def _temporary_folder() -> Path:
    folder = tempfile.mkdtemp(prefix="cases-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def read_case(name: str, content: bytes) -> Case:
    expectation, *parts = _MARKER.split(content)
    files = zip(parts[0::3], parts[1::3], parts[2::3], strict=True)
    return Case(
        name,
        expectation,
        {
            path.decode(): text.replace(b"\n", b"\r\n") if crlf else text
            for path, crlf, text in files
        },
    )


@cache
def all_cases() -> Sequence[Case]:
    paths = {f"{path.parent.name}/{path.stem}": path for path in _FOLDER.glob("*/*.case")}
    return [read_case(name, path.read_bytes()) for name, path in sorted(paths.items())]


def good_cases() -> Sequence[Case]:
    return [case for case in all_cases() if case.expect["compiles"]]


def bad_cases() -> Sequence[Case]:
    return [case for case in all_cases() if not case.expect["compiles"]]


def name_of(case: Case) -> str:
    return case.name


def compiled(case: Case, folder: Path | None = None) -> Compiled:
    """The case compiled in a folder that holds its files, if not in its own."""
    base = folder or case.folder
    channel = case.expect.get("channel")
    args = case.expect.get("args", [])
    rules = args[args.index("--rules-path") + 1] if "--rules-path" in args else None
    options = Options(
        base_dir=base,
        channel=base / channel if channel else None,
        rules_path=base / rules if rules else None,
        allow_absolute_paths="--allow-absolute-paths" in args,
        variables=dict(case.expect.get("env", {})),
    )
    return compile_pipeline(case.pipeline, PIPELINE, options)
