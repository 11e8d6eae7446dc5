"""Logs as JSON: every line is an object, whatever is in it."""

from __future__ import annotations

import datetime as dt
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from clinker.cli import progress
from clinker.cli.clinker import main
from clinker.cli.log_lines import log_line
from clinker.cli.progress import watching
from clinker.cli.signals import Interruption
from clinker.cxl.syntax.ast import TraceLevel
from clinker.engine.report.facts import RunError, identify
from clinker.engine.run.observer import Progress
from tests.engine.report.reports import report

ROOT = Path(__file__).resolve().parents[2]
ALWAYS = ["timestamp", "level", "execution_id", "batch_id", "message"]
BROKEN = """\
pipeline: { name: p }
nodes:
  - { type: source, name: s, config: { type: csv, path: in.csv, schema: { id: int } } }
  - { type: transform, name: t, input: s, config: { cxl: "emit x = idd" } }
  - { type: output, name: o, input: t, config: { type: csv, path: out.csv } }
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines(text: str) -> list[dict[str, object]]:
    """The objects of a log, each of them on a line of its own."""
    assert text.isascii()
    assert text.endswith("\n")
    return [json.loads(line, parse_constant=pytest.fail) for line in text[:-1].split("\n")]


def logged(threshold: TraceLevel = TraceLevel.INFO) -> list[dict[str, object]]:
    stream = Terminal()
    with watching(threshold, Interruption(), quiet=False, as_json=True, stream=stream) as log:
        log.warned("before it has begun")
        log.began(identify('daily "1"\n'))
        log.step_started("reading", 20)
        log.advanced(10)
        log.logged(TraceLevel.INFO, "seen", "check", {"id": 5, "at": dt.date(2026, 4, 11)})
        log.ended(report(), None)
    return lines(stream.getvalue())


def test_lines_have_stable_keys_and_no_progress_is_shown() -> None:
    first, second, last = logged()
    assert [*first] == ALWAYS
    assert (first["level"], first["execution_id"], first["batch_id"]) == ("warn", None, None)
    assert [*second] == [*ALWAYS, "node", "fields"]
    assert second["batch_id"] == 'daily "1"\n'
    assert (second["message"], second["node"]) == ("seen", "check")
    assert second["fields"] == {"id": 5, "at": "2026-04-11"}
    assert [*last] == [*ALWAYS, "exit_code", "duration_ms", "records"]
    assert (last["level"], last["exit_code"], last["duration_ms"]) == ("warn", 2, 1500)
    assert last["records"] == {"total": 4, "ok": 3, "written": 3, "dlq": 1}
    assert dt.datetime.fromisoformat(str(first["timestamp"])).tzinfo == dt.UTC


def test_the_progress_of_a_long_run_is_told_in_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN", 0)
    stream = io.StringIO()
    with watching(TraceLevel.INFO, Interruption(), quiet=False, as_json=True, stream=stream) as log:
        log.step_started("orders", 4_000_000_000, "bytes")
        log.progressed(Progress(1_500_000, 4_000_000_000, 2, 60))
    (line,) = lines(stream.getvalue())
    assert line["progress"] == {
        "step": "orders",
        "bytes_read": 1_500_000,
        "bytes_total": 4_000_000_000,
        "tasks_done": 2,
        "tasks_total": 60,
    }


def test_the_level_decides_what_is_logged() -> None:
    assert [line["message"] for line in logged(TraceLevel.WARN)] == [
        "before it has begun",
        "run complete",
    ]
    assert logged_messages(TraceLevel.DEBUG) == [
        "before it has begun",
        "reading",
        "seen",
        "run complete",
    ]


def logged_messages(threshold: TraceLevel) -> list[object]:
    return [line["message"] for line in logged(threshold)]


@pytest.mark.parametrize(
    "text",
    [
        'a"b\\',
        "two\nlines\r\n",
        "\x1b[2J\x00\x7f\x85\u2028\u2029",
        "ümläut 🎉",
        "bytes \udcff\udc80 of a file name",
        "half a pair \ud83d",
        '","level":"error',
        "x" * 100_000,
    ],
)
def test_a_line_is_one_object_whatever_is_in_it(text: str) -> None:
    stream = io.StringIO()
    with watching(TraceLevel.INFO, Interruption(), quiet=False, as_json=True, stream=stream) as log:
        log.began(identify(text))
        log.logged(
            TraceLevel.ERROR,
            text,
            text,
            {text: text, "n": float("nan"), "i": float("-inf"), "l": [text, {text: 10**30}]},
        )
        log.ended(report(), RunError(text, 3, help=text, notes=[text]))
    first, last = lines(stream.getvalue())
    assert [*first] == [*ALWAYS, "node", "fields"]
    assert [*last] == [*ALWAYS, "help", "notes", "exit_code", "duration_ms", "records"]
    if text.isprintable():
        assert first["message"] == last["message"] == text
    # Not everything that reads JSON takes halves of characters.
    json.dumps(first, ensure_ascii=False).encode()


def test_the_documentation_knows_every_key() -> None:
    page = (ROOT / "docs" / "running" / "running.md").read_text("utf-8")
    about = page.partition("### Logs as JSON")[2].partition("## Previews")[0]
    documented = re.findall(r"^\| `(\w+)` \|", about, re.MULTILINE)
    at_the_end = {"exit_code": 3, "duration_ms": 1, "records": {}}
    said = {"node": "n", "fields": {}, "diagnostic": {}, "help": "h", "notes": ["n"], "stack": "s"}
    said |= {"progress": {}}
    line = log_line(TraceLevel.INFO, "m", None, **said, **at_the_end)
    assert sorted(documented) == sorted(json.loads(line))
    [example] = re.findall(r"```json\n(.*?)```", about, re.DOTALL)
    message, last = lines(example)
    assert set(message) | set(last) <= set(documented)
    assert [*last] == [*logged()[-1]]


def command(place: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).with_name("clinker"))
    return subprocess.run(
        [program, "run", "p.yaml", *options],
        cwd=place,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_findings_are_lines_too(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(BROKEN)
    done = command(tmp_path, "--log-format", "json")
    assert (done.returncode, done.stdout) == (1, "")
    [line] = lines(done.stderr)
    assert [*line] == [*ALWAYS, "diagnostic"]
    assert line["level"] == "error"
    assert line["diagnostic"]["code"] == "E200"  # type: ignore[index]
    done = command(tmp_path, "--log-format", "json", "--explain", "json", "--format", "json")
    assert (done.returncode, done.stdout, len(lines(done.stderr))) == (1, "", 1)
    done = command(tmp_path, "--log-format", "json", "--dry-run", "--format", "json")
    assert json.loads(done.stdout)[0]["code"] == "E200"
    assert len(lines(done.stderr)) == 1


def test_what_ends_the_command_is_a_line_too(tmp_path: Path) -> None:
    done = command(tmp_path, CLINKER_LOG_FORMAT="json")
    assert (done.returncode, done.stdout) == (4, "")
    [line] = lines(done.stderr)
    assert line["message"] == "cannot read 'p.yaml': No such file or directory"
    (tmp_path / "p.yaml").write_text(BROKEN.replace("idd", "id"))
    done = command(tmp_path, "--log-format", "json")
    assert (done.returncode, done.stdout) == (4, "")
    finding, last = lines(done.stderr)
    assert finding["diagnostic"]
    assert (last["level"], last["exit_code"]) == ("error", 4)
    assert last["execution_id"]


@pytest.mark.parametrize(
    ("variable", "text", "told"),
    [
        ("CLINKER_LOG_LEVEL", "loud", "invalid choice: 'loud'"),
        ("CLINKER_LOG_FORMAT", "jsno", "did you mean 'json'?"),
        ("CLINKER_THREADS", "0", "'0' is not a whole number of 1 or more"),
        ("CLINKER_MEMORY_LIMIT", "much", "'much' is not a size such as 512M or 2G"),
    ],
)
def test_the_environment_may_be_wrong(
    variable: str,
    text: str,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(variable, text)
    with pytest.raises(SystemExit) as ended:
        main(["run", "p.yaml"])
    assert ended.value.code == 64
    assert f"clinker run: error: environment variable {variable}: " in (
        err := capsys.readouterr().err
    )
    assert told in err


def test_an_option_counts_more_than_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLINKER_LOG_FORMAT", "json")
    assert main(["run", str(tmp_path / "p.yaml"), "--log-format", "text"]) == 4
    assert capsys.readouterr().err.startswith("error: cannot read")
    monkeypatch.setenv("CLINKER_LOG_FORMAT", "")
    assert main(["run", str(tmp_path / "p.yaml")]) == 4
    assert capsys.readouterr().err.startswith("error: cannot read")
