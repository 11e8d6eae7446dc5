"""The workspace: the directory of `clinker.toml`, at or above the base directory of a pipeline."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from clinker.plan.options import Options

FILE = "clinker.toml"
_ADMINISTRATOR = 0


def locate_workspace(options: Options) -> Options:
    """The options with directories that hold wherever they are used, and with the workspace.

    Workers of a cluster have working directories of their own.
    """
    base_dir = options.base_dir.absolute()
    return replace(options, base_dir=base_dir, workspace=workspace_root(base_dir))


def workspace_root(base_dir: Path) -> Path:
    """The nearest directory with a workspace file, from the base directory upwards.

    Without one it is the base directory. Directories further up may be open to everybody, as `/tmp`
    is, so a file there counts only if whoever runs the pipeline, or owns it, made it.
    """
    trusted = {_ADMINISTRATOR, _owner(base_dir)}
    if hasattr(os, "geteuid"):
        trusted.add(os.geteuid())
    for directory in (base_dir, *base_dir.parents):
        owner = _owner(directory / FILE)
        if owner is not None and (owner in trusted or directory == base_dir):
            return directory
    return base_dir


def _owner(path: Path) -> int | None:
    """Who owns a file or directory; None if there is none."""
    try:
        return path.stat().st_uid
    except OSError:
        return None
