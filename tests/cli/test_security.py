"""`clinker run` among hostile files and names."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

CLINKER = str(Path(sys.executable).with_name("clinker"))
PIPELINE = """\
pipeline:
  name: orders
nodes:
  - type: source
    name: orders
    config:
      type: csv
      path: orders.csv
      schema: [{ name: id, type: int }]
  - type: transform
    name: next
    input: orders
    config: { cxl: "emit following = id + 1" }
  - { type: output, name: result, input: next, config: { type: csv, path: result.csv } }
"""
SHADOWED = "argparse json pickle pyarrow pyspark random socket struct subprocess orjson".split()
LARGE = 5 * 2**20
"""So many bytes are read by Spark's workers."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pipeline.yaml").write_text(PIPELINE)
    return tmp_path


def clinker(folder: Path, *args: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [CLINKER, "run", "pipeline.yaml", *args],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_a_header_cannot_read_environment_variables(folder: Path) -> None:
    (folder / "orders.csv").write_text("id,${env:AWS_SECRET_ACCESS_KEY}\n1,x\n")
    done = clinker(folder, AWS_SECRET_ACCESS_KEY="hunter2")
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "result.csv").read_text() == (
        "id,following,${env:AWS_SECRET_ACCESS_KEY}\n1,2,x\n"
    )


@pytest.mark.parametrize("size", [0, LARGE])
@pytest.mark.parametrize("python_path", ["", f"{os.pathsep}/nothing"])  # the latter names it
def test_python_files_in_the_working_directory_are_not_imported(
    folder: Path, size: int, python_path: str
) -> None:
    for name in SHADOWED:
        (folder / f"{name}.py").write_text(
            f"open({str(folder / 'imported')!r}, 'a').write({name!r} + '\\n')\n"
            f"raise ImportError('the wrong {name}')\n"
        )
    row = f"1,{'x' * 1000}\n"
    (folder / "orders.csv").write_text("id,text\n" + row * (1 + size // len(row)))
    done = clinker(folder, PYTHONPATH=python_path)
    assert not (folder / "imported").exists(), (folder / "imported").read_text()
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "result.csv").stat().st_size > size


@pytest.mark.parametrize("given", ["option", "variable"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_token_is_shown_nowhere(folder: Path, given: str, form: str) -> None:
    (folder / "orders.csv").write_text("id\n1\n")
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        server = f"127.0.0.1:{reserved.getsockname()[1]}"
        url = f"sc://{server}/;token=hunter2"
        options = ["--metrics-spool-dir", "spool", "--log-level", "debug", "--format", form]
        options += ["--report", "run.html"]
        if given == "option":
            done = clinker(folder, "--remote", url, *options, CLINKER_REMOTE="sc://not.this.one")
        else:
            done = clinker(folder, *options, CLINKER_REMOTE=url)
    (metrics,) = (folder / "spool").iterdir()
    page = (folder / "run.html").read_text()
    assert "no Spark server answers" in page
    told = done.stdout + done.stderr + metrics.read_text() + page
    assert done.returncode == 4
    assert f"no Spark server answers at 'sc://{server}'" in told
    assert "hunter2" not in told


def test_a_setting_without_a_value_may_be_a_password(folder: Path) -> None:
    done = clinker(folder, "--spark-conf", "spark.some.password:hunter2")
    assert (done.returncode, done.stderr) == (
        64,
        "error: --spark-conf must be key=value, got '***'\n",
    )


def test_a_setting_cannot_add_options_of_java(folder: Path) -> None:
    (folder / "orders.csv").write_text("id\n1\n")
    done = clinker(folder, "--spark-conf", "spark.x=1\n-XX:OnError=touch hacked")
    assert done.returncode == 4
    assert done.stderr == (
        "error: spark.x holds '\\n', which Java cannot be given: remove it "
        "where the value comes from (--spark-conf, clinker.toml, TMPDIR, JAVA_HOME)\n"
    )
