"""What a command line asks of Spark."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping

from clinker.engine.session.settings import DEFAULT_BATCH, SessionSettings
from clinker.plan.compile import Plan


def session_settings(
    plan: Plan, args: Namespace, spark_conf: Mapping[str, str], debug: bool
) -> SessionSettings:
    """The settings of a run: the command line first, then the pipeline file."""
    settings, options, storage = plan.pipeline.pipeline, plan.options, plan.storage
    return SessionSettings(
        master=args.master,
        remote=args.remote or (None if args.master else os.environ.get("CLINKER_REMOTE") or None),
        threads=options.threads or settings.concurrency.threads,
        memory_limit=plan.memory_limit,
        batch_size=settings.batch_size if settings.has("batch_size") else DEFAULT_BATCH,
        local_dir=None if storage.spill_dir_is_default else storage.spill_dir,
        compress=storage.spill.compress != "off",
        spark_conf=spark_conf,
        debug=debug,
    )
