"""Test files run from first to last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from clinker.config import load_cases
from clinker.config.case import Case
from clinker.engine.session.session import Session
from clinker.frozen import frozen
from clinker.plain_files import read_plain
from clinker.plan.compile import Plan
from clinker.testing.attempt import Attempt, Trying, Unusable
from clinker.testing.judging import Difference, differences
from clinker.testing.outcome import Outcome
from clinker.testing.updating import Edit, apply, updates


@frozen(kw_only=True)
class Suite:
    """Test files, and how their cases are run."""

    files: Sequence[Path]
    session: Callable[[Plan], Session]
    wanted: str = ""
    """What the names of cases must hold to be run."""
    updates: bool = False
    """Whether expectations that are not met are rewritten."""
    base_dir: Path | None = None
    rules_path: Path | None = None
    allow_absolute_paths: bool = False
    memory_limit: int | None = None
    threads: int | None = None

    def run(self) -> Iterator[Outcome]:
        """The outcome of each case, as soon as it is known."""
        for path in self.files:
            yield from self._run_file(path)

    def _run_file(self, path: Path) -> Iterator[Outcome]:
        name = str(path)
        try:
            loaded = load_cases(read_plain(path), name)
        except OSError as problem:
            found = Difference(f"cannot be read: {problem.strerror}")
            yield Outcome(file=name, name="", differences=[found], is_unusable=True)
            return
        if loaded.value is None:
            yield Outcome(file=name, name="", diagnostics=loaded.diagnostics, is_unusable=True)
            return
        trying = Trying(
            path=path,
            file=loaded.value,
            session=self.session,
            base_dir=self.base_dir,
            rules_path=self.rules_path,
            allow_absolute_paths=self.allow_absolute_paths,
            memory_limit=self.memory_limit,
            threads=self.threads,
        )
        edits: list[Edit] = []
        try:
            for case in loaded.value.cases:
                if self.wanted.lower() in f"{name}::{case.name}".lower():
                    yield self._run_case(name, trying, case, edits)
        finally:
            if edits:
                _rewrite(path.resolve(), apply(loaded.source.text, edits))

    def _run_case(self, file: str, trying: Trying, case: Case, edits: list[Edit]) -> Outcome:
        try:
            attempt = trying.attempt(case)
        except Unusable as problem:
            return Outcome(
                file=file, name=case.name, diagnostics=problem.diagnostics, is_unusable=True
            )
        found = differences(case, attempt)
        is_updated = False
        if found and self.updates:
            is_updated, found = _updated(case, attempt, found, edits)
        return Outcome(
            file=file,
            name=case.name,
            seconds=attempt.seconds,
            differences=() if is_updated else found,
            diagnostics=attempt.diagnostics,
            is_updated=is_updated,
        )


def _rewrite(path: Path, text: str) -> None:
    """Put a text in the place of a file, all of it or nothing."""
    aside = path.with_name(f".{path.name}.new")
    aside.write_bytes(text.encode())
    aside.chmod(path.stat().st_mode)
    aside.replace(path)


def _updated(
    case: Case, attempt: Attempt, found: Sequence[Difference], edits: list[Edit]
) -> tuple[bool, list[Difference]]:
    try:
        edits += updates(case, attempt)
    except ValueError as problem:
        return False, [*found, Difference(f"not updated: {problem}")]
    return True, []
