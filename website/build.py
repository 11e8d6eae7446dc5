"""A site is laid out, built by Zensical without a single warning, and mended."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from website.navigation import navigation
from website.pages import ROOT, write_pages

_ASSETS = Path(__file__).parent / "assets"
_WORKERS = "workers-from-disk.js"
_SHIM = re.compile(r'<script src="https://unpkg\.com/iframe-worker/shim"[^>]*></script>')
"""What Zensical would load from the network for pages that are opened from disk."""


class BuildError(Exception):
    """What Zensical had to say about the pages."""


def build(site: Path) -> None:
    """Build the site in a directory, which is replaced as a whole."""
    with tempfile.TemporaryDirectory() as directory:
        project = Path(directory)
        _lay_out(project)
        _run_zensical(project)
        built = project / "site"
        _mend(built)
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(built, site)


def _lay_out(project: Path) -> None:
    pages = project / "docs"
    write_pages(pages)
    shutil.copytree(_ASSETS, pages / "assets")
    settings = (ROOT / "zensical.toml").read_text("utf-8")
    with_navigation = settings.replace("[project]\n", f"[project]\nnav = {navigation()}\n", 1)
    (project / "zensical.toml").write_text(with_navigation, "utf-8")


def _run_zensical(project: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "website.generator", "build", "--strict"],
        cwd=project,
        env={**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise BuildError(ended.stdout)


def _mend(site: Path) -> None:
    """Have browsers load nothing from elsewhere."""
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        workers = os.path.relpath(site / "assets" / _WORKERS, page.parent)
        page.write_text(_SHIM.sub(f'<script src="{workers}"></script>', text), "utf-8")
