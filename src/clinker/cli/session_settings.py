"""What a command line asks of Spark."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace

from clinker.cli.command import USAGE, CommandError
from clinker.engine.run.starting import planned_settings
from clinker.engine.session.settings import SessionSettings
from clinker.plan.compile import Plan


def session_settings(
    plan: Plan, args: Namespace, spark_conf: Mapping[str, str], debug: bool
) -> SessionSettings:
    """The settings of a run: the command line first, then the pipeline file."""
    settings = replace(
        planned_settings(plan),
        master=args.master,
        remote=args.remote or (None if args.master else os.environ.get("CLINKER_REMOTE") or None),
        spark_conf=spark_conf,
        debug=debug,
        ships_environment=args.ship_env,
    )
    if args.ship_env and (settings.is_local or settings.remote):
        raise CommandError(
            "--ship-env is for the workers of a cluster: name it with --master", USAGE
        )
    return settings
