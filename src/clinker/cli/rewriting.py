"""Files written back at once, so that no reader sees half of one."""

from __future__ import annotations

from pathlib import Path

from clinker.cli.command import IO, CommandError


def replace_file(path: Path, content: bytes, code: int = IO) -> None:
    """Put new content in place of a file; `code` is the exit code if that fails."""
    path = path.resolve()  # what a link leads to, not the link
    aside = path.with_name(path.name + ".tmp")
    try:
        aside.write_bytes(content)
        aside.chmod(path.stat().st_mode)
        aside.replace(path)
    except OSError as problem:
        aside.unlink(missing_ok=True)
        raise CommandError(f"cannot write '{path}': {problem.strerror}", code) from problem
