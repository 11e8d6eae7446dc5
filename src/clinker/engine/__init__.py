"""Plans as Spark DataFrames: how the nodes of a pipeline run.

expressions/  CXL to Spark SQL, errors as data
flow/         the records between nodes, described by SQL until they must be computed
nodes/        what each kind of node does to flows
reading/      files into frames
writing/      frames into files
rejects/      the life of a rejected record
run/          everything between a compiled plan and its published files
report/       what a run has to say, and the forms in which it says it
session/      the engine to run on

`inputs`, which says how much the driver reads by itself, is reachable from here: tools that make
workers read everything change it.
"""

from __future__ import annotations

from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    if name == "inputs":
        from clinker.engine.reading import inputs

        return inputs
    raise AttributeError(name)
