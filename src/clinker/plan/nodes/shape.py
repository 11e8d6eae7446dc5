"""Shapes: what a kind of node does to the records that it reads, whatever it computes."""

from __future__ import annotations

from enum import Enum


class Shape(Enum):
    """What becomes of records in a node.

    Analyses match on it instead of the kind. Every planned class names its shape as a literal, so
    the type checker knows which nodes a `case` is about.
    """

    READS = "reads"
    """Records come into being."""
    PASSES = "passes"
    """Each record leaves as itself, perhaps changed, dropped, taken apart or sent to some ports."""
    MERGES = "merges"
    """Records of several inputs leave in one flow, each as itself."""
    JOINS = "joins"
    """Records of the driver leave, with what matches them in the other inputs."""
    GROUPS = "groups"
    """Groups leave in place of records."""
    WRITES = "writes"
    """Records leave the pipeline."""
