"""`clinker check` as a user meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from clinker.cli.clinker import main

PIPELINE = """\
pipeline: { name: p }
nodes:
  - { type: source, name: s, config: { type: csv, path: s.csv, schema: [{ name: a, type: int }] } }
  - { type: transform, name: t, input: s, config: { cxl: emit b = %s } }
  - { type: output, name: o, input: t, config: { type: csv, path: o.csv } }
"""

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "good.yaml").write_text(PIPELINE % "a + 1")
    (tmp_path / "sub" / "bad.yaml").write_text(PIPELINE % "aa + 1")
    (tmp_path / "tax.cxl").write_text("emit b = a +\n")
    (tmp_path / "clinker.toml").write_text("[workspace]\nname = 'x'\n")
    (tmp_path / "other.yaml").write_text("services: {}\n")
    (tmp_path / ".hidden.yaml").write_text("pipeline: 1\nnodes: 1\n")
    return tmp_path


def test_a_directory_is_searched(project: Path, capsys: Capture) -> None:
    (project / "clinker.toml").write_text("[workspace]\nnam = 'x'\n")
    assert main(["check"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "error[E200]: unknown field 'aa' (at sub/bad.yaml:4)" in err
    assert "(at tax.cxl:1)" in err
    assert "unknown key 'nam' (at clinker.toml:2)" in err
    assert err.endswith("4 files checked: 3 errors\n")


def test_good_files_are_said_to_be_good(project: Path, capsys: Capture) -> None:
    assert main(["check", "good.yaml", "clinker.toml", "good.yaml"]) == 0
    assert capsys.readouterr() == ("ok: 2 files checked\n", "")


def test_json_is_what_other_commands_print(project: Path, capsys: Capture) -> None:
    assert main(["check", "--format", "json", "sub"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)
    assert (finding["code"], finding["primary"]["file"]) == ("E200", "sub/bad.yaml")


def test_github_annotates_lines(project: Path, capsys: Capture) -> None:
    assert main(["check", "--format", "github", "sub"]) == 1
    assert capsys.readouterr().out == (
        "::error file=sub/bad.yaml,line=4,endLine=4,col=67,endColumn=69,title=E200::"
        "unknown field 'aa'%0Ahelp: known here: a\n"
    )


def test_sarif_names_files_and_rules(project: Path, capsys: Capture) -> None:
    assert main(["check", "--format", "sarif", "sub", "good.yaml"]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "sub/bad.yaml"
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "E200"


def test_a_missing_path_is_exit_4_and_the_rest_is_checked(project: Path, capsys: Capture) -> None:
    assert main(["check", "none.yaml", "sub"]) == 4
    err = capsys.readouterr().err
    assert "unknown field 'aa'" in err
    assert "error: cannot read 'none.yaml': No such file or directory\n" in err


def test_an_empty_directory_is_exit_4(tmp_path: Path, capsys: Capture) -> None:
    assert main(["check", str(tmp_path)]) == 4
    assert "no pipelines" in capsys.readouterr().err


def test_a_file_of_another_kind_is_wrong_usage(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "a.csv").write_text("a\n")
    assert main(["check", str(tmp_path / "a.csv")]) == 64
    assert "is no file of ours" in capsys.readouterr().err


def test_a_composition_is_reported_once(project: Path, capsys: Capture) -> None:
    (project / "c.comp.yaml").write_text(
        "_compose:\n  name: c\n  inputs:\n    rows: { schema: [{ name: a, type: int }] }\n"
        "  outputs: { out: t }\n"
        "nodes:\n  - { type: transform, name: t, input: rows, config: { cxl: emit b = aa } }\n"
    )
    (project / "uses.yaml").write_text(
        (PIPELINE % "a")
        .replace("input: t,", "input: c.out,")
        .replace(
            "  - { type: output",
            "  - { type: composition, name: c, use: c.comp.yaml, inputs: { rows: t } }\n"
            "  - { type: output",
        )
    )
    assert main(["check", "--format", "json", "c.comp.yaml", "uses.yaml"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)
    assert finding["primary"]["file"] == "c.comp.yaml"


def test_starts_without_the_engine() -> None:
    script = (
        "import sys; from clinker.cli.clinker import main; code = main(['check', sys.argv[1]]);"
        "assert not {'pyspark', 'pyarrow', 'pygls'} & set(sys.modules); sys.exit(code)"
    )
    examples = str(Path(__file__).parents[2] / "src/clinker/examples")
    done = subprocess.run([sys.executable, "-c", script, examples], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
