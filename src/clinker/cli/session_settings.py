"""What a command line asks of the engine."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace

from clinker.cli.command import USAGE, CommandError
from clinker.cxl.failure import printable
from clinker.diagnostics.suggest import did_you_mean
from clinker.engine.run.starting import planned_settings
from clinker.engine.session.settings import SessionSettings
from clinker.engine_names import ENGINES, EngineName
from clinker.plan.compile import Plan

_ENGINE, _REMOTE = "CLINKER_ENGINE", "CLINKER_REMOTE"


def session_settings(
    plan: Plan, args: Namespace, spark_conf: Mapping[str, str], debug: bool
) -> SessionSettings:
    """The settings of a run: the command line first, then the environment, then the files."""
    engine, remote = _place(args, plan.storage.engine)
    settings = replace(
        planned_settings(plan),
        engine=engine,
        master=args.master,
        remote=remote,
        spark_conf=spark_conf,
        debug=debug,
        ships_environment=args.ship_env,
    )
    if engine == "sail" and spark_conf:
        raise CommandError("--spark-conf is for Spark: Sail has no such settings", USAGE)
    if args.ship_env and (settings.is_local or settings.remote):
        raise CommandError(
            "--ship-env is for the workers of a cluster: name it with --master", USAGE
        )
    return settings


def _place(args: Namespace, chosen: EngineName) -> tuple[EngineName, str | None]:
    """The engine, and the server that it is, if it is one."""
    if args.master or args.remote:
        if args.engine == "sail":
            option = "--master" if args.master else "--remote"
            message = f"{option} is for Spark: Sail runs on this machine only"
            raise CommandError(message, USAGE)
        return "spark", args.remote
    if args.engine == "sail":
        return "sail", None
    remote = os.environ.get(_REMOTE) or None
    named = args.engine or _engine_of_environment()
    if named == "sail" and remote:
        raise CommandError(f"{_ENGINE} and {_REMOTE} contradict each other: unset one", USAGE)
    return ("spark", remote) if remote else (named or chosen, None)


def _engine_of_environment() -> EngineName | None:
    name = os.environ.get(_ENGINE)
    if not name:
        return None
    for engine in ENGINES:
        if name == engine:
            return engine
    help = did_you_mean(name, ENGINES) or f"engines are {', '.join(ENGINES)}"
    raise CommandError(f"{_ENGINE} names no engine: '{printable(name)}'; {help}", USAGE)
