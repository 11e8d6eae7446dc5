"""`clinker infer` as a user meets it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from clinker.cli.arguments.projects import INFERRED
from clinker.infer.infer import FORMATS

_WITHOUT_SPARK = """\
import sys
from clinker.cli.clinker import main
code = main(sys.argv[1:])
assert "pyspark" not in sys.modules
sys.exit(code)
"""


def _infer(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _WITHOUT_SPARK, "infer", *args],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/orders.csv").write_text("id,price\n1,2.5\n2,3\n")
    return tmp_path


def test_a_pipeline_is_printed_without_an_engine(folder: Path) -> None:
    shown = _infer("data/orders.csv", cwd=folder)
    assert shown.returncode == 0, shown.stderr
    assert "path: data/orders.csv" in shown.stdout
    assert "{ name: price, type: float }  # 2 values: 2.5 … 3" in shown.stdout


def test_a_pipeline_is_written_with_paths_from_where_it_stands(folder: Path) -> None:
    shown = _infer("data/orders.csv", "-o", "pipelines/orders.yaml", cwd=folder)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("ok: wrote pipelines/orders.yaml")
    assert 'path: "../data/orders.csv"' in (folder / "pipelines/orders.yaml").read_text()
    assert "outside of the pipeline's directory" in shown.stderr


def test_nothing_is_overwritten(folder: Path) -> None:
    (folder / "orders.yaml").write_text("mine")
    shown = _infer("data/orders.csv", "-o", "orders.yaml", cwd=folder)
    assert shown.returncode == 4
    assert "exists already" in shown.stderr
    assert (folder / "orders.yaml").read_text() == "mine"


def test_several_files_make_several_sources(folder: Path) -> None:
    (folder / "orders.csv").write_text("id,qty\n1,2\n")
    shown = _infer("data/orders.csv", "orders.csv", cwd=folder)
    assert "    name: orders\n" in shown.stdout
    assert "    name: orders_2\n" in shown.stdout


def test_a_source_may_be_given_its_name(folder: Path) -> None:
    assert "    name: sales\n" in _infer("data/orders.csv", "--name", "sales", cwd=folder).stdout
    wrong = _infer("data/orders.csv", "--name", "a.b", cwd=folder)
    assert wrong.returncode == 64
    several = _infer("data/orders.csv", "data/orders.csv", "--name", "sales", cwd=folder)
    assert several.returncode == 64


def test_a_file_that_cannot_be_read_is_told(folder: Path) -> None:
    shown = _infer("gone.csv", cwd=folder)
    assert shown.returncode == 4
    assert shown.stderr == "error: gone.csv: cannot be read: No such file or directory\n"


def test_the_command_names_the_formats_that_are_known() -> None:
    assert INFERRED == FORMATS
