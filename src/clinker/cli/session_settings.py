"""What a command line asks of the engine."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping

from clinker.cli.command import USAGE, CommandError
from clinker.cxl.failure import printable
from clinker.diagnostics.suggest import did_you_mean
from clinker.engine.session.settings import DEFAULT_BATCH, SessionSettings
from clinker.engine_names import ENGINES, EngineName
from clinker.plan.compile import Plan

_ENGINE, _REMOTE = "CLINKER_ENGINE", "CLINKER_REMOTE"


def session_settings(
    plan: Plan, args: Namespace, spark_conf: Mapping[str, str], debug: bool
) -> SessionSettings:
    """The settings of a run: the command line first, then the environment, then the files."""
    settings, options, storage = plan.pipeline.pipeline, plan.options, plan.storage
    engine, remote = _place(args, storage.engine)
    if engine == "sail" and spark_conf:
        raise CommandError("--spark-conf is for Spark: Sail has no such settings", USAGE)
    return SessionSettings(
        engine=engine,
        master=args.master,
        remote=remote,
        threads=options.threads or settings.concurrency.threads,
        memory_limit=plan.memory_limit,
        batch_size=settings.batch_size if settings.has("batch_size") else DEFAULT_BATCH,
        local_dir=None if storage.spill_dir_is_default else storage.spill_dir,
        compress=storage.spill.compress != "off",
        spark_conf=spark_conf,
        debug=debug,
    )


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
