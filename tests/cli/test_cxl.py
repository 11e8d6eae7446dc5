"""The `cxl` command as a user meets it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from clinker.cli.cxl import main

CXL = str(Path(sys.executable).with_name("cxl"))


class Command:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *args: str) -> tuple[int, str, str]:
        try:
            code = main(args)
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = self.capsys.readouterr()
        return code, captured.out, captured.err


@pytest.fixture
def cxl(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


def test_check_accepts_a_program(cxl: Command, tmp_path: Path) -> None:
    file = tmp_path / "transform.cxl"
    file.write_text("emit total = price * qty\n")
    assert cxl("check", str(file)) == (0, f"ok: {file} is valid\n", "")


def test_check_reports_every_error_with_its_line(cxl: Command, tmp_path: Path) -> None:
    file = tmp_path / "transform.cxl"
    file.write_text('emit a = "x" + 1\nemit b = 2\nemit c = name.uper()\n')
    code, out, err = cxl("check", str(file))
    assert (code, out) == (1, "")
    assert err == (
        f"error[typecheck]: cannot apply '+' to String and Int (at {file}:1)\n"
        '    1 | emit a = "x" + 1\n'
        "      |          ^^^^^^^\n"
        "  help: convert one operand — use .to_int() or .to_string()\n"
        f"error[resolve]: unknown method 'uper' (at {file}:3)\n"
        "    3 | emit c = name.uper()\n"
        "      |               ^^^^\n"
        "  help: did you mean 'upper'?\n"
    )


def test_check_prints_json_on_request(cxl: Command, tmp_path: Path) -> None:
    file = tmp_path / "t.cxl"
    file.write_text("emit a = 1 +\n")
    code, out, err = cxl("check", str(file), "--format", "json")
    (found,) = json.loads(out)
    assert (code, err) == (1, "")
    assert found["code"] == "parse"
    assert found["severity"] == "error"
    assert found["primary"]["file"] == str(file)
    assert found["primary"]["start"] == {"line": 1, "column": 13, "offset": 12}
    assert found["help"]


def test_check_reads_a_module(cxl: Command, tmp_path: Path) -> None:
    file = tmp_path / "m.cxl"
    file.write_text("fn double(x) = x * 2\nlet two = 2\n")
    assert cxl("check", str(file))[0] == 0


@pytest.mark.parametrize(
    "schema",
    [
        "amount: int\nname: string\n",
        "schema:\n  amount: int\n  name: string\n",
        "- { name: amount, type: int }\n- { name: name, type: string }\n",
        "schema:\n  - name: amount\n    type: int\n  - name: name\n    type: string\n",
    ],
)
def test_check_against_a_schema(cxl: Command, tmp_path: Path, schema: str) -> None:
    columns = tmp_path / "orders.schema.yaml"
    columns.write_text(schema)
    file = tmp_path / "t.cxl"
    file.write_text("emit a = amoutn\nemit b = amount + name\n")
    code, _, err = cxl("check", str(file), "--schema", str(columns))
    assert code == 1
    assert f"error[resolve]: unknown field 'amoutn' (at {file}:1)" in err
    assert "did you mean 'amount'?" in err
    assert f"error[typecheck]: cannot apply '+' to Int and String (at {file}:2)" in err


@pytest.mark.parametrize(
    "schema", ["", "amount: nope\n", "a: [\n", "- 5\n", "amount: int\namount: int\n", "\x00\xff"]
)
def test_an_unusable_schema_is_an_input_error(cxl: Command, tmp_path: Path, schema: str) -> None:
    columns = tmp_path / "orders.schema.yaml"
    columns.write_text(schema)
    file = tmp_path / "t.cxl"
    file.write_text("emit a = 1\n")
    code, out, err = cxl("check", str(file), "--schema", str(columns))
    assert (code, out) == (2, "")
    assert "orders.schema.yaml" in err


def test_eval_joins_expressions(cxl: Command) -> None:
    code, out, err = cxl("eval", "-e", "let r = 2", "-e", "emit x = n * r", "--field", "n=21")
    assert (code, out, err) == (0, '{\n  "x": 42\n}\n', "")


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("42", "Int"),
        ("-1", "Int"),
        ("10.5", "Float"),
        ("1e3", "Float"),
        ("99999999999999999999", "Float"),
        ("true", "Bool"),
        ("null", "Null"),
        ("Alice", "String"),
        ("", "String"),
        ("inf", "String"),
        ("a=b", "String"),
    ],
)
def test_eval_infers_field_types(cxl: Command, text: str, type_: str) -> None:
    _, out, _ = cxl("eval", "-e", "emit t = v.type_of()", "--field", f"v={text}")
    assert json.loads(out) == {"t": type_}


def test_eval_reads_a_record(cxl: Command) -> None:
    record = '{"a": {"b": [1, 2.0, null]}, "big": 9223372036854775808}'
    _, out, _ = cxl("eval", "-e", "emit x = a.b emit y = big", "--record", record)
    assert out == '{\n  "x": [\n    1,\n    2.0,\n    null\n  ],\n  "y": 9.223372036854776e+18\n}\n'


def test_eval_gives_an_array_for_a_fan_out(cxl: Command) -> None:
    _, out, _ = cxl("eval", "-e", "emit each x in [1, 2] { emit y = x }")
    assert json.loads(out) == [{"y": 1}, {"y": 2}]
    assert json.loads(cxl("eval", "-e", "emit each x in [] { emit y = x }")[1]) == []


def test_eval_of_a_filtered_record(cxl: Command) -> None:
    found = cxl("eval", "-e", "filter a > 5", "-e", "emit b = a", "--field", "a=1")
    assert found == (0, "{}\n", "note: record filtered by predicate\n")


def test_eval_reports_failures(cxl: Command) -> None:
    code, out, err = cxl("eval", "-e", "emit x = a.to_int()", "--field", "a=12x")
    assert (code, out) == (1, "")
    assert err == (
        "error[eval]: cannot convert '12x' to Int (at <inline>:1)\n"
        "    1 | emit x = a.to_int()\n"
        "      |          ^^^^^^^^^^ while computing 'x'\n"
    )


def test_eval_traces_on_request(cxl: Command) -> None:
    program = 'trace warn "careful" trace debug "detail" emit x = 1.debug("x")'
    assert cxl("eval", "-e", program)[2] == ""
    assert cxl("eval", "-e", program, "--trace", "warn")[2] == "WARN careful\n"
    assert cxl("eval", "-e", program, "--trace", "trace")[2] == (
        "WARN careful\nDEBUG detail\nTRACE x: 1\n"
    )


def test_eval_takes_variables(cxl: Command) -> None:
    _, out, _ = cxl("eval", "-e", "emit x = $vars.rate * 2", "--var", "rate=0.5")
    assert json.loads(out) == {"x": 1.0}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["eval", "missing.cxl"], "cannot read 'missing.cxl': No such file or directory"),
        (["eval", "-e", "emit x = 1", "--record", "[1]"], "--record must be a JSON object"),
        (["eval", "-e", "emit x = 1", "--record", "{"], "invalid JSON record"),
        (["eval", "-e", "emit x = 1", "--record", '{"a": NaN}'], "invalid JSON record"),
        (["eval", "-e", "emit x = 1", "--record", "[" * 50_000], "invalid JSON record"),
        (["check", "."], "cannot read '.': Is a directory"),
        (["check", "a.cxl", "--schema", "none.yaml"], "cannot read"),
    ],
)
def test_what_cannot_be_read_exits_with_2(cxl: Command, args: list[str], message: str) -> None:
    code, out, err = cxl(*args)
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["eval"], "nothing to evaluate"),
        (["eval", "-e", "emit x = 1", "--field", "x"], "--field must be name=value, got 'x'"),
        (["eval", "-e", "emit x = 1", "--record", "{}", "--field", "a=1"], "not both"),
        (["fmt", "-", "--write"], "--write needs files"),
        (["nonsense"], "invalid choice"),
        ([], "required"),
    ],
)
def test_wrong_usage_exits_with_64(cxl: Command, args: list[str], message: str) -> None:
    code, out, err = cxl(*args)
    assert (code, out) == (64, "")
    assert message in err


def test_fmt_prints_checks_and_writes(cxl: Command, tmp_path: Path) -> None:
    file = tmp_path / "t.cxl"
    file.write_text("emit   a=1+2  # sum\n")
    assert cxl("fmt", str(file)) == (0, "emit a = 1 + 2  # sum\n", "")
    assert cxl("fmt", "--check", str(file)) == (1, "", f"would reformat {file}\n")
    assert cxl("fmt", "--write", str(file)) == (0, "", f"reformatted {file}\n")
    assert file.read_text() == "emit a = 1 + 2  # sum\n"
    assert cxl("fmt", "--check", str(file)) == (0, "", "")
    assert [f.name for f in tmp_path.iterdir()] == ["t.cxl"]


def test_fmt_leaves_a_broken_program_alone(cxl: Command, tmp_path: Path) -> None:
    file = tmp_path / "t.cxl"
    file.write_text("emit a = \n")
    code, out, err = cxl("fmt", "--write", str(file))
    assert (code, out) == (1, "")
    assert "expected expression" in err
    assert file.read_text() == "emit a = \n"


def test_standard_input(cxl: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"emit  a=1")))
    assert cxl("fmt", "-") == (0, "emit a = 1\n", "")


def test_bytes_that_are_no_text(cxl: Command, tmp_path: Path) -> None:
    file = tmp_path / "t.cxl"
    file.write_bytes(b"emit a = \xff\xfe")
    code, out, err = cxl("check", str(file))
    assert (code, out) == (1, "")
    assert "not valid UTF-8" in err


def test_functions_lists_everything(cxl: Command) -> None:
    code, out, _ = cxl("functions")
    assert code == 0
    assert "String methods (24)" in out
    assert "Aggregate functions (10)" in out
    assert "$window.lag(n: Int)" in out


@pytest.mark.parametrize("name", ["pad_left", "find", "sum", "$window.lag", "upper()"])
def test_functions_explains_one(cxl: Command, name: str) -> None:
    code, out, _ = cxl("functions", name)
    assert code == 0
    assert "Examples:" in out


def test_functions_suggests(cxl: Command) -> None:
    assert cxl("functions", "padleft") == (
        1,
        "",
        "error: unknown built-in 'padleft'\n  help: did you mean 'pad_left'?\n",
    )


def test_version(cxl: Command) -> None:
    assert cxl("--version")[:2] == (0, "cxl 0.1.0\n")


def test_evaluation_starts_quickly_and_imports_little() -> None:
    script = (
        "import sys; from clinker.cli.cxl import main; main(['eval', '-e', 'emit x = 1']);"
        "heavy = ('pyspark', 'pydantic', 'rich', 'regex', 'ruamel', 'babel');"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_evaluation_is_interactive() -> None:
    def cpu_seconds() -> float:
        command = subprocess.Popen([CXL, "eval", "-e", "emit x = 1"], stdout=subprocess.DEVNULL)
        usage = os.wait4(command.pid, 0)[2]
        return usage.ru_utime + usage.ru_stime

    # Processor time, so that a busy machine does not count; on an idle one it is the wall time.
    assert min(cpu_seconds() for _ in range(5)) < 0.3


def test_a_reader_that_leaves_is_no_error() -> None:
    listing = subprocess.Popen([CXL, "functions"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert listing.stdout
    assert listing.stderr
    listing.stdout.close()
    listing.wait(10)
    assert listing.stderr.read() == b""


@pytest.mark.parametrize("method", ["matches", "find", "capture"])
@pytest.mark.parametrize("pattern", ['"(a+)+$"', "p"])
def test_a_pattern_that_takes_too_long_is_an_error(cxl: Command, method: str, pattern: str) -> None:
    program = f"emit x = t.{method}({pattern})"
    text = "a" * 50_000 + "!"
    code, out, err = cxl("eval", "-e", program, "--field", f"t={text}", "--field", "p=(a+)+$")
    assert (code, out) == (1, "")
    assert "pattern '(a+)+$' takes longer than 1 s on a text of 50001 characters" in err
