"""CXL, the typed expression language of pipelines."""

import sys

# Programs nest up to 256 levels, each worth a few Python calls in the parser, the checker and the
# interpreter; Python's default would stop some of them halfway.
sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))
