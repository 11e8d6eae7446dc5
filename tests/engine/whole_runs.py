"""Whole runs for tests: files and a pipeline in, an exit code, messages and files out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any

from clinker.cxl.syntax.ast import TraceLevel
from clinker.cxl.values import Value
from clinker.diagnostics.render import render_text
from clinker.engine.report.facts import RunError, RunReport
from clinker.engine.run.observer import Quiet, Unit
from clinker.engine.run.run import run_in
from clinker.engine.session.session import Session
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options


class Listener(Quiet):
    """Remembers what a run says."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.messages: list[str] = []
        self.steps: list[str] = []

    def step_started(self, name: str, total: int | None = None, unit: Unit = "records") -> None:
        self.steps.append(name)

    def warned(self, text: str) -> None:
        self.warnings.append(text)

    def wants(self, level: TraceLevel) -> bool:
        return level in (TraceLevel.WARN, TraceLevel.ERROR)

    def logged(
        self,
        level: TraceLevel,
        text: str,
        node: str | None = None,
        fields: Mapping[str, Value] | None = None,
    ) -> None:
        self.messages.append(f"{level.value} {node}: {text}")


@dataclass
class Ran:
    """What became of a run."""

    code: int
    message: str = ""
    help: str = ""
    notes: tuple[str, ...] = ()
    codes: list[str] = field(default_factory=list)
    report: RunReport | None = None
    warnings: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)


@dataclass
class Workplace:
    """A base directory, and Spark to run pipelines in it."""

    folder: Path
    session: Session

    def write(self, **files: str | bytes) -> None:
        """Files by their name, `_` for the dot."""
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            (self.folder / name.replace("_", ".")).write_bytes(data)

    def run(self, pipeline: str, **options: Any) -> Ran:
        given = Options(base_dir=self.folder, **options)
        compiled = compile_pipeline(dedent(pipeline).encode(), "p.yaml", given)
        assert compiled.plan, render_text(compiled.diagnostics)
        heard = Listener()
        try:
            report = run_in(compiled.plan, self.session, heard)
        except RunError as problem:
            return Ran(
                int(problem.exit_code),
                problem.message,
                problem.help or "",
                problem.notes,
                [d.code for d in problem.diagnostics],
                warnings=heard.warnings,
                messages=heard.messages,
                steps=heard.steps,
            )
        return Ran(
            int(report.exit_code),
            report=report,
            warnings=heard.warnings,
            messages=heard.messages,
            steps=heard.steps,
        )

    def read(self, path: str) -> str:
        return (self.folder / path).read_bytes().decode()

    def files(self) -> list[str]:
        """Everything below the base directory, hidden files and empty directories included."""
        return sorted(
            path.relative_to(self.folder).as_posix() + ("/" if path.is_dir() else "")
            for path in self.folder.rglob("*")
        )
