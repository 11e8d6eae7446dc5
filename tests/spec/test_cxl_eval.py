"""The `cxl eval` examples of the user guide, through the installed command."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

CXL = str(Path(sys.executable).with_name("cxl"))
CASES: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("cxl_eval.json").read_text(encoding="utf-8")
)


def run(case: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [CXL, "eval", *case["args"]], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture(scope="module")
def results() -> list[subprocess.CompletedProcess[str]]:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(run, CASES))


def test_every_example_gives_what_the_guide_shows(
    results: list[subprocess.CompletedProcess[str]],
) -> None:
    wrong = [
        (case["args"], result.returncode, result.stdout, result.stderr)
        for case, result in zip(CASES, results, strict=True)
        if not matches(case, result)
    ]
    assert wrong == []


def matches(case: dict[str, Any], result: subprocess.CompletedProcess[str]) -> bool:
    if result.returncode != case.get("exit", 0):
        return False
    if "expected" not in case:
        return True
    got, want = json.loads(result.stdout), dict(case["expected"])
    for volatile in case.get("volatile", []):
        del got[volatile], want[volatile]
    return json.dumps(got) == json.dumps(want)
