"""Zensical, with colours for CXL: `python -m website.generator build`."""

from __future__ import annotations

from zensical.main import cli

from website.highlighting import register

if __name__ == "__main__":
    register()
    cli()
