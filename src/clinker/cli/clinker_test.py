"""`clinker test`"""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from clinker.cli.clinker_run import pairs
from clinker.cli.command import CONFIGURATION, IO, OK, CommandError
from clinker.cxl.failure import printable

if TYPE_CHECKING:
    from clinker.engine.session.session import Session
    from clinker.plan.compile import Plan
    from clinker.testing.outcome import Outcome


def run(args: Namespace) -> int:
    from clinker.testing.files import NotThere, find_test_files

    conf = pairs("--spark-conf", args.spark_conf)
    try:
        files = find_test_files([Path(path) for path in args.paths or ["."]])
    except NotThere as problem:
        raise CommandError(f"'{printable(str(problem))}' does not exist", IO) from None
    if not files:
        message = "no tests here: the names of test files end in _test.yaml"
        raise CommandError(message, CONFIGURATION)
    from clinker.testing.suite import Suite

    began = time.monotonic()
    with _interruptible(), _session(args, conf) as session:
        suite = Suite(
            files=files,
            session=session,
            wanted=args.k or "",
            updates=args.update,
            base_dir=Path(args.base_dir) if args.base_dir else None,
            rules_path=Path(args.rules_path) if args.rules_path else None,
            allow_absolute_paths=args.allow_absolute_paths,
            memory_limit=args.memory_limit,
            threads=args.threads,
        )
        outcomes = _told(suite.run(), quiet=args.quiet)
    return _finish(args, outcomes, time.monotonic() - began)


def _told(outcomes: Iterator[Outcome], *, quiet: bool) -> list[Outcome]:
    from clinker.testing.as_text import Screen

    screen = Screen(sys.stdout)
    told: list[Outcome] = []
    for outcome in outcomes:
        told.append(outcome)
        if not (quiet and outcome.has_passed):
            screen.show(outcome)
            sys.stdout.flush()
    return told


def _finish(args: Namespace, outcomes: Sequence[Outcome], seconds: float) -> int:
    from clinker.testing.as_junit import junit
    from clinker.testing.as_text import Screen

    if args.junit:
        try:
            Path(args.junit).write_bytes(junit(outcomes))
        except OSError as problem:
            shown = printable(args.junit)
            raise CommandError(f"cannot write '{shown}': {problem.strerror}", IO) from problem
    if not outcomes:
        raise CommandError(f"no case is called like '{printable(args.k)}'", CONFIGURATION)
    has_passed = all(outcome.has_passed for outcome in outcomes)
    if not (args.quiet and has_passed):
        Screen(sys.stdout).finish(outcomes, seconds)
    return OK if has_passed else CONFIGURATION


@contextmanager
def _interruptible() -> Iterator[None]:
    from clinker.cli.signals import Interruption, broken_connections_told

    with Interruption(), broken_connections_told():
        yield


@contextmanager
def _session(args: Namespace, conf: dict[str, str]) -> Iterator[Callable[[Plan], Session]]:
    """What opens the session of all cases when the first of them needs it."""
    from contextlib import ExitStack
    from dataclasses import replace

    with ExitStack() as closing:
        opened: list[Session] = []

        def session(plan: Plan) -> Session:
            if not opened:
                from clinker.cli.session_settings import session_settings
                from clinker.engine.session import SessionError, open_session

                settings = session_settings(plan, args, conf, debug=False)
                settings = replace(settings, brief=True)
                try:
                    opened.append(closing.enter_context(open_session(settings)))
                except SessionError as problem:
                    raise CommandError(str(problem), IO) from problem
            return opened[0]

        yield session
