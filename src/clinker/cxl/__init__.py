"""CXL, the typed expression language of pipelines: pure Python, without pyspark and pyarrow.

- `syntax/`: text to syntax tree and back
- `check/`: names bound and types checked: syntax tree to typed program
- `run/`: the interpreter, which defines what programs mean
- `sql/`: pieces of Spark SQL that built-ins are written in
- `builtins/`: one module per family of built-ins, each declared once
- `types`: types as sets of kinds
- `values`: values, and what is true of them everywhere
- `failure`: the ways an evaluation can fail
"""

import sys

# Programs nest up to 256 levels, each worth a few Python calls in the parser, the checker and the
# interpreter; Python's default would stop some of them halfway.
sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))
