"""What outputs have come to in the rounds of a run, kept as long as it stays true.

An output comes to what its sources and all that has fallen of them make it. So it is not computed
again if what has fallen since is of other sources.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TypeAlias

from clinker.engine.flow.flow import SOURCE
from clinker.engine.nodes.output import Written
from clinker.engine.rejects.sites import Demand
from clinker.engine.settling.fallen import Fallen
from clinker.engine.writing.collecting import Collected
from clinker.frozen import frozen
from clinker.plan.compile import Plan

CollectedOutput: TypeAlias = tuple[Written, Collected]
"""An output that knows its columns, and what it has come to."""


@frozen(eq=False)
class _Kept:
    output: Written
    collected: Collected
    fallen: Fallen
    """What it was computed without."""
    cleaning: ExitStack
    """What is of no use any more when it is forgotten."""

    @property
    def is_whole(self) -> bool:
        return self.collected.is_whole

    @property
    def rejects_groups(self) -> bool:
        """Whether it tells of groups, of which more is known if they know their records."""
        return any(table[SOURCE].null_count for table in self.collected.rejects)


class Keeping:
    """The outputs that need not be computed again, and the parts of their files."""

    def __init__(self, plan: Plan, sources: Sequence[str]) -> None:
        self._reaching = {
            node: {number for number, source in enumerate(sources) if source in reaching}
            for node, reaching in plan.settling.reaching.items()
        }
        self._kept: dict[str, _Kept] = {}

    def __enter__(self) -> Keeping:
        return self

    def __exit__(self, *_: object) -> None:
        self.forget_all()

    def of(
        self, name: str, fallen: Fallen, collect: Callable[[ExitStack], CollectedOutput]
    ) -> CollectedOutput:
        """What an output comes to; computed, without what has fallen, if it is not known."""
        if name not in self._kept:
            with ExitStack() as cleaning:
                output, collected = collect(cleaning)
                self._kept[name] = _Kept(output, collected, fallen, cleaning.pop_all())
        return self._kept[name].output, self._kept[name].collected

    def forget_all(self) -> None:
        self._keep_if(lambda _name, _kept: False)

    def forget_careless(self, demand: Demand) -> None:
        """Forget what may be different with more care."""
        is_lineage = demand is Demand.LINEAGE
        self._keep_if(lambda _, kept: is_lineage and kept.is_whole and not kept.rejects_groups)

    def forget_unlike(self, fallen: Fallen) -> None:
        """Forget what is different without these records and groups."""
        unlike = {each: each.unlike(fallen) for each in {k.fallen for k in self._kept.values()}}
        self._keep_if(
            lambda name, kept: (
                kept.is_whole and self._reaching[name].isdisjoint(unlike[kept.fallen])
            )
        )

    def _keep_if(self, stays: Callable[[str, _Kept], bool]) -> None:
        for name, kept in [*self._kept.items()]:
            if not stays(name, kept):
                self._kept.pop(name).cleaning.close()
