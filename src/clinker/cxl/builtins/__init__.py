"""The built-ins of CXL, one module per family. Importing this package declares them all.

- `declare`: how methods are declared
- `strings`, `numeric`, `dates`, `conversion`, `introspection`, `paths`, `arrays`, `maps`: methods
- `aggregates`: functions over the records of a group
- `aggregate_forms`: their SQL
- `windows`: functions over the records of a window
- `window_forms`: their SQL
"""

from clinker.cxl.builtins import (
    arrays,
    conversion,
    dates,
    introspection,
    maps,
    numeric,
    paths,
    strings,
)
from clinker.cxl.builtins.aggregates import AGGREGATES
from clinker.cxl.builtins.declare import METHODS
from clinker.cxl.builtins.windows import WINDOW_FUNCTIONS

FAMILIES = (strings, numeric, dates, conversion, introspection, paths, arrays, maps)

__all__ = ["AGGREGATES", "FAMILIES", "METHODS", "WINDOW_FUNCTIONS"]
