"""CXL expressions in the engine: compiled to Spark SQL text, or run by the interpreter there.

Errors are data: an expression becomes the text of its value and, if it can fail, one that is true
where it does. Columns hold values in the forms of `formats.common.column_types`.

- `compiler`: expressions
- `calls`: calls of built-ins, in the forms that these declare
- `operators`: operators on operands of one kind each
- `dispatch`: operations on values whose kind is known only at run time
- `conditions`: where something fails, as SQL
- `members`: values of several keys of a map, read at once
- `rows`: programs that run once per record
- `representation`: literals, kinds and conversions, as SQL
- `scope`: names for values that are used more than once, computed layer by layer
- `sql_text`: all that is ever read off SQL text
- `foreign`: what the interpreter computes on Arrow batches
- `arrow_value`: values to Arrow columns and back
- `arrow_map`: functions of Arrow batches over frames
- `frames`: layers of columns added to a frame
"""

from clinker.engine.expressions.compiler import Compiler, Inputs
from clinker.engine.expressions.representation import convert, literal, null, recast
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
    "recast",
    "representation",
]
