"""What pipelines do, done once to learn from: examples that come with the package are run."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from clinker.engine.run.observer import Quiet
from clinker.engine.run.run import run_in
from clinker.engine.session.session import Session
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options, Preview
from clinker.plan.probes import also_looking_at, list_ends, list_outlets
from clinker.starting import make_project

_EXAMPLES = {"start": "orders.yaml", "order_report": "pipeline.yaml"}


def practise_pipelines(session: Session) -> None:
    """Run them, and look at their nodes as `show` and `test` do."""
    for example, name in _EXAMPLES.items():
        with tempfile.TemporaryDirectory(prefix="clinker-practice-") as folder:
            base = Path(folder)
            make_project(base, example)
            options = Options(base_dir=base)
            compiled = compile_pipeline((base / name).read_bytes(), str(base / name), options)
            assert compiled.plan, compiled.diagnostics
            run_in(compiled.plan, session, Quiet())
            known = list_outlets(compiled.plan)
            ends = {name: known[name] for name in list_ends(compiled.plan)}
            looked = also_looking_at(compiled.plan, ends)
            preview = replace(looked.options, preview=Preview(lists_rejected=True))
            run_in(replace(looked, options=preview), session, Quiet())
