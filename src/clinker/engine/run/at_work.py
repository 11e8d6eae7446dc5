"""Which nodes are at work when a run needs too much of something."""

from __future__ import annotations

from clinker.diagnostics import Diagnostic
from clinker.engine.report.facts import Exit, RunError
from clinker.frozen import frozen
from clinker.plan.compile import Plan
from clinker.plan.explain.as_text import size
from clinker.plan.explain.operators import operator
from clinker.plan.graph.graph import Unit


@frozen
class AtWork:
    """The part of a plan that is computed at a time: an output with all that it is made of."""

    plan: Plan
    output: str | None = None
    """None before the first of them."""

    def holding(self) -> list[Unit]:
        """The nodes that hold records; if there are none, the output itself."""
        if self.output is None:
            return []
        graph = self.plan.graph
        behind = {self.output, *graph.ancestors(self.output)}
        units = [unit for unit in graph if unit.name in behind]
        holding = [unit for unit in units if operator(self.plan, unit).holds_records]
        return holding or [graph.units[self.output]]

    def memory_exceeded(self, limit: int, detail: str | None = None) -> RunError:
        """The error of a run that needs more memory than it may use, although it has spilled."""
        units = self.holding()
        who = " or ".join(f"'{unit.name}'" for unit in units) or "the run"
        message = f"{who} exceeded the memory limit of {size(limit)}"
        if detail:
            message = f"{message}: {detail}"
        help = "raise it with --memory-limit or memory.limit in the pipeline"
        if not units:
            problem = Diagnostic("E310", message, help=help)
        else:
            unit = units[-1]
            node = self.plan.nodes[unit.name].node
            problem = unit.problem("E310", message, node.at("name"), help=help)
        return RunError(message, Exit.CONFIGURATION, [problem])
