"""Lineage: of which source fields the columns of outputs are made.

influence   in which ways one field can influence another, and how ways add up
expressions what a CXL expression reads, and in which way
nodes       what each kind of node makes of the fields it reads
outputs     the columns of outputs, and what decides over their records
"""

from clinker.plan.analyses.lineage.influence import Influence, SourceField
from clinker.plan.analyses.lineage.outputs import OutputLineage, output_lineage

__all__ = ["Influence", "OutputLineage", "SourceField", "output_lineage"]
