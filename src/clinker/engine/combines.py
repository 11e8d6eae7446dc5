"""placeholder"""

from collections.abc import Mapping

from clinker.engine.building import Building
from clinker.engine.flow import Flow
from clinker.plan.planned import PlannedCombine


def combine(building: Building, planned: PlannedCombine, inputs: Mapping[str, Flow]) -> Flow:
    raise NotImplementedError
