"""Inputs of tests: plain files, of which no copies are made."""

from __future__ import annotations

from pathlib import Path

from clinker.engine.reading.inputs import SourceInput, open_inputs
from clinker.engine.rejects.sites import Sites
from clinker.engine.report.facts import Identity
from clinker.engine.run.observer import Quiet
from clinker.formats.files.spool import Spool
from clinker.plan.compile import Plan


def open_files(plan: Plan, identity: Identity, sites: Sites) -> tuple[SourceInput, ...]:
    """The sources of a plan, all of them plain files."""
    return open_inputs(plan, identity, sites, Spool(_refuse), Quiet())


def _refuse() -> Path:
    raise AssertionError("a plain file was to be copied")
