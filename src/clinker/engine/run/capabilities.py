"""What an engine cannot do: told before anything is read."""

from __future__ import annotations

from collections.abc import Iterator

from clinker.config.window import AnalyticWindow
from clinker.diagnostics import Diagnostic
from clinker.engine.report.facts import Exit, RunError
from clinker.engine.session.engine import Engine
from clinker.engine.session.recognizing import engine_named
from clinker.engine_names import TITLES, EngineName
from clinker.plan.compile import Plan
from clinker.plan.nodes import PlannedTransform

_UNBOUNDED = float("-inf")


def engine_problems(plan: Plan, name: EngineName) -> list[Diagnostic]:
    """What the pipeline asks of an engine that it does not have."""
    return list(_problems(plan, engine_named(name)))


def check_engine(plan: Plan, name: EngineName) -> None:
    if problems := engine_problems(plan, name):
        raise RunError(problems[0].message, Exit.CONFIGURATION, problems)


def _problems(plan: Plan, engine: Engine) -> Iterator[Diagnostic]:
    for planned in plan.nodes.values():
        if not isinstance(planned, PlannedTransform):
            continue
        window = planned.node.config.analytic_window
        if window is not None and _slides(window) and not engine.dialect.sliding_frames:
            title = TITLES[engine.name]
            yield planned.unit.problem(
                "E324",
                f"the engine {title} has only frames of rows that begin with unbounded_preceding",
                window.at("frame"),
                help="run it on Spark with --engine spark, or ask for such a frame",
            )


def _slides(window: AnalyticWindow) -> bool:
    """Whether records leave the frame while it moves on, or it is one by value."""
    frame = window.frame
    return frame is not None and (frame.rows is None or frame.rows.start != _UNBOUNDED)
