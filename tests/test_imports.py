"""What processes of our own do without."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import pyarrow
from clinker.imports import admit_pandas, leave_out_pandas

leave_out_pandas()
assert pyarrow.array([1, None]).null_count == 1
try:
    import pandas
except ImportError as problem:
    print(problem)
print("pandas" in sys.modules)
admit_pandas()
import pandas
"""


def test_libraries_find_no_pandas_and_work_without_it() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert ran.stdout == "clinker has no use for pandas\nFalse\n", ran.stderr
