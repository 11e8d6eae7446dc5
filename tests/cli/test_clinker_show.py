"""`clinker show` as a user meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CLINKER = str(Path(sys.executable).with_name("clinker"))
_PIPELINE = """\
pipeline: { name: shop, vars: { least: { type: int, default: 0 } } }
nodes:
  - type: source
    name: orders
    config: { type: csv, path: orders.csv, schema: { id: int, amount: float } }
  - type: transform
    name: large
    input: orders
    config: { cxl: "filter amount > $vars.least" }
  - type: output
    name: result
    input: large
    config: { type: csv, path: result.csv }
"""


def _show(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [CLINKER, "show", "shop.yaml", *args], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.yaml").write_text(_PIPELINE)
    (tmp_path / "orders.csv").write_text("id,amount\n1,5\n2,50\nx,3\n")
    return tmp_path


def test_records_are_shown_and_nothing_is_written(folder: Path) -> None:
    shown = _show("orders", cwd=folder)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "1    1      5.0\n2    2     50.0\n2 records\n" in shown.stdout
    assert "  orders.csv row 3: type_coercion_failure: cannot convert 'x'" in shown.stdout
    assert sorted(path.name for path in folder.iterdir()) == ["orders.csv", "shop.yaml"]


def test_other_programs_get_only_records(folder: Path) -> None:
    shown = _show("large", "--var", "least=10", "--format", "json", cwd=folder)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert json.loads(shown.stdout) == [{"id": 2, "amount": 50.0}]


def test_a_node_that_is_not_there_is_told(folder: Path) -> None:
    shown = _show("lage", cwd=folder)
    assert shown.returncode == 1
    assert shown.stderr == "error: the pipeline has no node 'lage'; did you mean 'large'?\n"


def test_a_missing_file_is_told(folder: Path) -> None:
    (folder / "orders.csv").unlink()
    shown = _show("orders", cwd=folder)
    assert shown.returncode == 4
    assert "orders.csv" in shown.stderr


def test_a_table_may_hold_several_places_but_csv_only_one(folder: Path) -> None:
    pipeline = _PIPELINE.replace("input: large", "input: orders")
    (folder / "shop.yaml").write_text(pipeline)
    shown = _show("--format", "csv", cwd=folder)
    assert shown.returncode == 64
    assert "choose of large, result" in shown.stderr
