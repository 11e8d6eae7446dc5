"""What Spark's Python workers on this machine are forked from.

Spark's own daemon imports next to nothing, so each worker would import by itself, and hold in its
own memory, what all of them need. Here they share it.
"""

from __future__ import annotations

import gc
from importlib import import_module

from clinker.imports import leave_out_pandas

_SHARED = (
    "pyspark.sql.pandas.serializers",
    "pyspark.sql.pandas.types",
    "pyspark.worker",
    "clinker.engine.reading.scan",
    "clinker.engine.writing.collecting",
)


def main() -> None:
    """Import what is shared, and fork workers whenever Spark asks for them."""
    leave_out_pandas()
    for module in _SHARED:
        import_module(module)
    # A worker looks for garbage after every task: among its own objects, not all that it imported.
    gc.collect()
    gc.freeze()
    from pyspark.daemon import manager

    manager()


if __name__ == "__main__":
    main()
