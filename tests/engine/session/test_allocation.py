"""Memory that is given back where there is little."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from clinker.engine.session.allocation import allocation_variables

MIB = 2**20
KEEPING = """
import sys
from clinker.engine.session.allocation import allocate_sparingly
from clinker.engine.session.usage import usage

allocate_sparingly(int(sys.argv[1]))
import pyarrow as pa

b"x" * 2**23  # from now on glibc would have smaller texts among others
held = [b"x" * 2**19 for _ in range(300)]
last = held[-1]
before = usage().held
del held
print(pa.default_memory_pool().backend_name == "system", (before - usage().held) > 100 * 2**20)
"""


def test_memory_is_given_back_only_where_there_is_little() -> None:
    assert "MALLOC_TRIM_THRESHOLD_" in allocation_variables(512 * MIB)
    assert "MALLOC_TRIM_THRESHOLD_" not in allocation_variables(1024 * MIB)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such settings")
@pytest.mark.parametrize(("limit", "said"), [(512, "True True"), (1024, "False ")])
def test_a_process_gives_back_what_it_does_not_use(limit: int, said: str) -> None:
    command = [sys.executable, "-c", KEEPING, str(limit * MIB)]
    environment = {name: v for name, v in os.environ.items() if not name.startswith("ARROW_")}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=True, env=environment
    )
    assert done.stdout.startswith(said)
