"""`clinker test` as a user meets it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

CLINKER = str(Path(sys.executable).with_name("clinker"))
_PIPELINE = """\
pipeline: { name: shop }
nodes:
  - type: source
    name: orders
    config: { type: csv, path: orders.csv, schema: { id: int } }
  - type: output
    name: result
    input: orders
    config: { type: csv, path: result.csv }
"""
_CASES = """\
pipeline: shop.yaml
cases:
  - name: it passes
    given: { orders: [{ id: 1 }] }
    expect: { records: { result: [{ id: 1 }] } }
  - name: it fails
    given: { orders: [{ id: 1 }] }
    expect: { records: { result: [{ id: 2 }] } }
"""


def _test(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [CLINKER, "test", *args], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.yaml").write_text(_PIPELINE)
    (tmp_path / "shop_test.yaml").write_text(_CASES)
    return tmp_path


def test_the_outcome_is_told_and_nothing_written_but_what_is_asked_for(folder: Path) -> None:
    told = _test("--junit", "junit.xml", cwd=folder)
    assert (told.returncode, told.stderr) == (1, "")
    assert told.stdout.startswith("shop_test.yaml\n  ok      it passes  ")
    assert "        id\n      - 2\n      + 1\n" in told.stdout
    assert "1 passed, 1 failed in " in told.stdout
    assert ET.parse(folder / "junit.xml").getroot().get("tests") == "2"
    assert not (folder / "result.csv").exists()


def test_cases_that_pass_are_quiet_if_asked(folder: Path) -> None:
    told = _test("-k", "passes", "--quiet", cwd=folder)
    assert (told.returncode, told.stdout, told.stderr) == (0, "", "")


def test_where_nothing_is_to_be_tested_that_is_told(folder: Path) -> None:
    nothing = _test("-k", "nothing", cwd=folder)
    assert nothing.returncode == 1
    assert nothing.stderr == "error: no case is called like 'nothing'\n"
    (folder / "shop_test.yaml").unlink()
    assert "no tests here" in _test(cwd=folder).stderr
    gone = _test("gone", cwd=folder)
    assert (gone.returncode, gone.stderr) == (4, "error: 'gone' does not exist\n")


def test_a_test_file_with_mistakes_is_told_before_an_engine_starts(folder: Path) -> None:
    (folder / "shop_test.yaml").write_text(_CASES.replace("expect", "expekt"))
    told = _test(cwd=folder)
    assert told.returncode == 1
    assert "did you mean 'expect'?" in told.stdout
