"""CXL expressions in the engine: compiled to Spark SQL text, or run by the interpreter there."""

from clinker.engine.expressions.compiler import Compiler, Inputs
from clinker.engine.expressions.representation import convert, literal, null
from clinker.engine.expressions.rows import RowSql, Step, compile_row_program
from clinker.engine.expressions.scope import Columns, ForeignColumns, Layer, Scope
from clinker.formats.common.column_types import TAGGED, Representation, representation

__all__ = [
    "TAGGED",
    "Columns",
    "Compiler",
    "ForeignColumns",
    "Inputs",
    "Layer",
    "Representation",
    "RowSql",
    "Scope",
    "Step",
    "compile_row_program",
    "convert",
    "literal",
    "null",
    "representation",
]
