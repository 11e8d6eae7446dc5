"""Sources as far as the plan tells of them, for runs that are shown and never start."""

from __future__ import annotations

from dataclasses import replace

from clinker.config.nodes import SourceNode
from clinker.engine.reading.inputs import SourceInput, read_spec
from clinker.engine.rejects.sites import Site, Sites
from clinker.formats.reading import take_inventory
from clinker.frozen import frozen
from clinker.plan.compile import Plan


@frozen(eq=False, kw_only=True)
class UnopenedInput(SourceInput):
    """A source whose files were not looked for: they may be large, and may have bad records."""

    has_parted_arrays: bool
    """Whether a run may read only some members of the elements of arrays."""

    @property
    def is_small(self) -> bool:
        return False

    @property
    def has_unknown_columns(self) -> bool:
        """Whether there may be a column for each undeclared field; only files tell their names."""
        return self.spec.undeclared == "keep" and not self.has_undeclared_map


def unopened_inputs(plan: Plan, sites: Sites) -> tuple[UnopenedInput, ...]:
    """All sources of a plan, each with its site as in a run."""
    inputs: list[UnopenedInput] = []
    for number, (unit, node) in enumerate(plan.graph.of(SourceNode)):
        site = sites.add(Site(unit.name, "", None))
        spec = read_spec(plan, unit, node.config, site, whole=False)
        whole = replace(spec, members={})
        inputs.append(
            UnopenedInput(
                number=number,
                site=site,
                files=(),
                surveyed=(),
                spec=whole,
                inventory=take_inventory(whole, (), 1),
                sample=None,
                memory=plan.memory_limit,
                has_parted_arrays=bool(spec.members),
            )
        )
    return tuple(inputs)
