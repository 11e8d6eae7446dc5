"""Paths: what a pipeline may name, what output paths come to, and which files collide."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinker.config.template import parse_naming_template, parse_path_template
from clinker.diagnostics import Diagnostic
from clinker.diagnostics.render import render_text
from clinker.plan.compile import compile_pipeline
from clinker.plan.files.paths import (
    PathValues,
    check_destinations,
    fixed_part,
    list_destinations,
    pipeline_hash,
    render,
    resolve,
    split_name,
    timestamp,
    violation,
)
from clinker.plan.files.workspace import workspace_root
from clinker.plan.options import Options
from tests.plan.compiling import brief, notes, wired

NOTHING = "{}"


def source(name: str = "s", where: str = "path: s.csv", more: str = "") -> str:
    return dedent(
        f"""\
        - type: source
          name: {name}
          config:
            type: csv
            {where}
            {more}
            schema: [{{ name: id, type: int }}]
        """
    )


def output(name: str = "o", path: str = "o.csv", reads: str = "s", more: str = "") -> str:
    return dedent(
        f"""\
        - type: output
          name: {name}
          input: {reads}
          config:
            type: csv
            path: "{path}"
            {more}
        """
    )


CALL = "- type: composition\n  name: c\n  use: ../c.comp.yaml\n  input: s\n"


def problems(
    base: Path, nodes: str, error_handling: str = NOTHING, settings: str = "", **options: object
) -> list[Diagnostic]:
    """Findings about a pipeline whose first node stands on line 4."""
    head = f"pipeline: {{ name: p{settings} }}\nerror_handling: {error_handling}\nnodes:\n"
    chosen = Options(base, **options)  # type: ignore[arg-type]
    return compile_pipeline(f"{head}{nodes}".encode(), "p.yaml", chosen).diagnostics


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("a\0b", "the path contains a NUL character"),
        ("../x.csv", "'../x.csv' climbs out of its directory with '..'"),
        ("data/../../x.csv", "'data/../../x.csv' climbs out of its directory with '..'"),
        ("data/../..", "'data/../..' climbs out of its directory with '..'"),
        ("data\\..\\x", "'data\\..\\x' climbs out of its directory with '..'"),
        ("%2e%2e/x", "'%2e%2e/x' hides a '..' or a NUL character behind percent signs"),
        (".%2E/x", "'.%2E/x' hides a '..' or a NUL character behind percent signs"),
        ("a%2f..%2fx", "'a%2f..%2fx' hides a '..' or a NUL character behind percent signs"),
        ("%252e%252e/x", "'%252e%252e/x' hides a '..' or a NUL character behind percent signs"),
        ("a%00b", "'a%00b' hides a '..' or a NUL character behind percent signs"),
        ("/etc/passwd", "'/etc/passwd' is an absolute path"),
        ("C:\\x.csv", "'C:\\x.csv' is an absolute path"),
        ("C:x.csv", "'C:x.csv' is an absolute path"),
        ("\\\\server\\x", "'\\\\server\\x' is an absolute path"),
    ],
)
def test_paths_that_are_not_acceptable(tmp_path: Path, path: str, message: str) -> None:
    wrong = violation(path, tmp_path, allow_absolute=False)
    assert wrong and wrong.message == message
    assert wrong.help


@pytest.mark.parametrize(
    "path",
    "x.csv,./x.csv,a/b/x.csv,a..b,...,100%.csv,%41.csv,a b/ü.csv,a/../x.csv,a/..".split(","),
)
def test_paths_that_are_fine(tmp_path: Path, path: str) -> None:
    assert violation(path, tmp_path, allow_absolute=False) is None


def test_absolute_paths_can_be_allowed_but_never_dots(tmp_path: Path) -> None:
    assert violation("/etc/passwd", tmp_path, allow_absolute=True) is None
    assert violation("/etc/../passwd", tmp_path, allow_absolute=True)


def test_dots_may_lead_as_high_as_the_workspace(tmp_path: Path) -> None:
    base = tmp_path / "teams" / "hr"
    assert violation("../x.csv", base, False, tmp_path) is None
    assert violation("../../x.csv", base, False, tmp_path) is None
    assert violation("../../../x.csv", base, False, tmp_path)
    assert violation("..\\x.csv", base, False, tmp_path), "no path of this system"


def test_every_path_may_reach_the_workspace_and_no_further(tmp_path: Path) -> None:
    base = tmp_path / "work" / "hr"
    (tmp_path / "work" / "rules").mkdir(parents=True)
    (tmp_path / "work" / "rules" / "tax.cxl").write_text("let rate = 2\n")
    base.mkdir()
    (tmp_path / "work" / "clinker.toml").touch()
    nodes = (
        source(where="path: UP/s.csv")
        + source("g", "glob: UP/data/*.csv")
        + output(path="UP/o.csv")
        + output(
            "p", "UP/{source_file}.csv", "g", 'split: { max_records: 1, naming: "x/UP/{seq}" }'
        )
    )
    errors = "{ strategy: continue, dlq: { path: UP/e.csv } }"
    settings = ", rules_path: UP/rules, metrics: { spool_dir: UP/spool }"

    def found(up: str) -> list[str]:
        texts = (text.replace("UP", up) for text in (nodes, errors, settings))
        return [line.split(" ")[0] for line in brief(problems(base, *texts))]

    assert found("..") == []
    assert found("../..") == ["E-SEC-001"] * 8


def test_the_workspace_is_where_its_file_is(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert workspace_root(inner) == inner
    (tmp_path / "clinker.toml").touch()
    assert workspace_root(inner) == tmp_path
    (tmp_path / "a" / "clinker.toml").touch()
    assert workspace_root(inner) == tmp_path / "a"


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give away"
)
def test_a_file_that_somebody_else_has_put_above_makes_no_workspace(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "clinker.toml").touch()
    os.chown(tmp_path / "clinker.toml", 12345, 12345)
    assert workspace_root(tmp_path / "mine") == tmp_path / "mine"
    os.chown(tmp_path / "mine", 12345, 12345)
    assert workspace_root(tmp_path / "mine") == tmp_path


def test_symbolic_links_may_not_leave_the_base_directory(tmp_path: Path) -> None:
    base, elsewhere = tmp_path / "base", tmp_path / "elsewhere"
    base.mkdir()
    elsewhere.mkdir()
    (base / "inside").mkdir()
    (base / "out").symlink_to(elsewhere)
    (base / "in").symlink_to(base / "inside")
    wrong = violation("out/x.csv", base, allow_absolute=False)
    assert wrong
    assert wrong.message == "'out/x.csv' leads out of the base directory through a symbolic link"
    assert violation("in/x.csv", base, allow_absolute=False) is None
    assert violation("out/x.csv", base, allow_absolute=True) is None


def test_a_base_directory_behind_a_link_is_fine(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert violation("x.csv", tmp_path / "link", allow_absolute=False) is None


@given(st.text())
def test_what_is_accepted_stays_below_the_base_directory(path: str) -> None:
    base = Path("/nonexistent/base")
    if violation(path, base, allow_absolute=False) is None:
        resolved = resolve(path, base)
        assert resolved.is_relative_to(base)
        assert resolved == Path(os.path.normpath(resolved))


@pytest.mark.parametrize(
    ("nodes", "error_handling", "settings", "place"),
    [
        (source(where="path: ../s.csv") + output(), NOTHING, "", "8:11"),
        (source(where="glob: ../*.csv") + output(), NOTHING, "", "8:11"),
        (source(where="glob: /data/*.csv") + output(), NOTHING, "", "8:11"),
        (source(where="paths: [a.csv, /b.csv]") + output(), NOTHING, "", "8:20"),
        (source(more="format_schema: ../x.schema.yaml") + output(), NOTHING, "", "9:20"),
        (source() + output(path="../o.csv"), NOTHING, "", "16:11"),
        (source() + output(path="{channel}../o.csv"), NOTHING, "", "16:11"),
        (source() + output(more="schema: /x.yaml"), NOTHING, "", "17:13"),
        (
            source() + output(more="split: {max_records: 1, naming: '../{seq}'}"),
            NOTHING,
            "",
            "17:37",
        ),
        (source() + output(), "{ dlq: { path: /tmp/e.csv } }", "", "2:32"),
        (source() + CALL + output(), NOTHING, "", "13:8"),
        (source() + output(), "{ dlq: { per_source: { s: { path: ../e } } } }", "", "2:51"),
        (source() + output(), NOTHING, ", rules_path: ../rules", "1:34"),
        (source() + output(), NOTHING, ", metrics: { spool_dir: /var/spool }", "1:44"),
    ],
)
def test_every_path_of_a_pipeline_is_checked(
    tmp_path: Path, nodes: str, error_handling: str, settings: str, place: str
) -> None:
    found = problems(tmp_path, nodes, error_handling, settings)
    errors = [problem for problem in found if problem.is_error]
    assert [line.split(" ")[:2] for line in brief(errors)] == [["E-SEC-001", place]]


def test_a_regex_is_not_a_path(tmp_path: Path) -> None:
    assert problems(tmp_path, source(where="regex: 'part-..\\.csv$'") + output()) == []


def test_values_of_tokens_cannot_climb_out(tmp_path: Path) -> None:
    nodes = source() + output(path="{batch_id}/o.csv")
    assert problems(tmp_path, nodes, batch_id="..") == []
    assert problems(tmp_path, nodes, batch_id="a/../b") == []


@pytest.mark.parametrize("value", [".", ".."])
def test_values_of_tokens_are_no_other_directories(value: str) -> None:
    values = replace(VALUES, batch_id=value, source_file=value)
    path = render(parse_path_template("out/{batch_id}/{source_file}/o.csv"), values)
    assert path == "out/_/_/o.csv"


@pytest.mark.parametrize(
    ("pattern", "fixed"),
    [("data/*.csv", "data"), ("*.csv", "."), ("a/b?/c", "a"), ("a/b.csv", "a/b.csv")],
)
def test_the_fixed_part_of_a_glob(pattern: str, fixed: str) -> None:
    assert fixed_part(pattern) == fixed


VALUES = PathValues(
    source_name="orders",
    source_names={"orders": "orders", "items": "lines"},
    pipeline_hash="0123456789abcdef" * 4,
    timestamp="2026-01-31T02-03-04Z",
    execution_id="e1",
    batch_id="b/1",
    source_file="part-1",
    source_path="data/part-1",
)


@pytest.mark.parametrize(
    ("template", "path"),
    [
        ("out/o.csv", "out/o.csv"),
        ("{source_name}.csv", "orders.csv"),
        ("{source_name:items}.csv", "lines.csv"),
        ("o{channel}.csv", "o.csv"),
        ("o{channel:-:}.csv", "o.csv"),
        ("o{source_name:-:+}.csv", "o-orders+.csv"),
        ("{source_name:items:<:>}", "<lines>"),
        ("{pipeline_hash}", "01234567"),
        ("{pipeline_hash:4}", "0123"),
        ("{pipeline_hash:full}", "0123456789abcdef" * 4),
        ("{timestamp}_{execution_id}", "2026-01-31T02-03-04Z_e1"),
        ("{batch_id}.csv", "b_1.csv"),
        ("o{n}.csv", "o.csv"),
        ("o{n:-:}.csv", "o.csv"),
        ("{source_file}.csv", "part-1.csv"),
        ("{source_path}.csv", "data/part-1.csv"),
        ("{{{execution_id}}}", "{e1}"),
    ],
)
def test_templates(template: str, path: str) -> None:
    assert render(parse_path_template(template), VALUES) == path


def test_split_files_are_numbered() -> None:
    naming = parse_naming_template("{stem}_{seq:04}.{ext}")
    assert split_name(naming, "out/report.csv", 12) == "report_0012.csv"
    assert split_name(naming, "out/report", 1) == "report_0001.dat"
    assert split_name(parse_naming_template("p{seq}.csv"), "x", 3) == "p3.csv"


def test_the_hash_and_the_time_of_a_run() -> None:
    assert len(pipeline_hash("a")) == 64
    assert pipeline_hash("a") != pipeline_hash("b")
    moment = datetime(2026, 1, 31, 3, 3, 4, tzinfo=timezone(timedelta(hours=1)))
    assert timestamp(moment) == timestamp(moment.astimezone(UTC)) == "2026-01-31T02-03-04Z"


MERGED = "- type: merge\n  name: m\n  inputs: [s, t]\n"


def test_an_ambiguous_source_name(tmp_path: Path) -> None:
    nodes = source("s") + source("t") + MERGED + output(path="{source_name}.csv", reads="m")
    (problem,) = problems(tmp_path, nodes)
    assert brief([problem]) == ["E072 26:11 {source_name} could be any of: s, t"]
    assert problem.help == "say which one: {source_name:s}"
    assert notes(problem) == ["5:9 one of the sources", "12:9 one of the sources"]
    named = source("s") + source("t") + MERGED + output(path="out-{source_name:t}.csv", reads="m")
    assert problems(tmp_path, named) == []


def test_an_output_never_overwrites_an_input(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, source() + output(path="./s.csv"))
    assert problem.code == "E076"
    assert problem.message == "output 'o' would overwrite the input of 's'"
    assert [label.text for label in problem.secondary] == ["read here"]


def test_a_source_name_that_is_no_source(tmp_path: Path) -> None:
    (problem,) = problems(
        tmp_path, source("orders") + output(path="{source_name:order}", reads="orders")
    )
    assert brief([problem]) == ["E073 16:11 {source_name:order} names no source"]
    assert problem.help == "did you mean 'orders'?"


def shared(tmp_path: Path, *outputs: str, dlq: str = NOTHING, folds: bool = False) -> list[str]:
    pipeline, graph = wired(source("s") + source("t") + "".join(outputs), dlq)
    options = Options(tmp_path)
    found = list_destinations(pipeline, graph, options, ignores_case=lambda _: folds)
    return brief(check_destinations(found))


SAME = ["E322 30:11 output 'b' writes to the same file as output 'a'"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("o.csv", "o.csv"),
        ("o.csv", "./o.csv"),
        ("out//o.csv", "out/o.csv"),
        ("o{channel}.csv", "o.csv"),
        ("{source_name}.csv", "s.csv"),
        ("{timestamp}.csv", "{timestamp}.csv"),
        ("{source_file}.csv", "{source_file}.csv"),
    ],
)
def test_outputs_that_share_a_file(tmp_path: Path, one: str, other: str) -> None:
    assert shared(tmp_path, output("a", one), output("b", other)) == SAME


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.csv", "b.csv"),
        ("O.csv", "o.csv"),
        ("{timestamp}.csv", "{batch_id}.csv"),
        ("{pipeline_hash:15}", "{pipeline_hash:full}"),
    ],
)
def test_outputs_that_do_not(tmp_path: Path, one: str, other: str) -> None:
    assert shared(tmp_path, output("a", one), output("b", other)) == []


def test_files_of_different_sources_may_differ(tmp_path: Path) -> None:
    outputs = output("a", "{source_file}.csv"), output("b", "{source_file}.csv", reads="t")
    assert shared(tmp_path, *outputs) == []


def test_case_counts_unless_the_disk_ignores_it(tmp_path: Path) -> None:
    assert shared(tmp_path, output("a", "O.csv"), output("b", "o.csv"), folds=True) == SAME


def test_links_to_the_same_directory(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "out")
    assert shared(tmp_path, output("a", "out/o.csv"), output("b", "link/o.csv")) == SAME


def test_split_files_collide_by_their_names(tmp_path: Path) -> None:
    split = "split: { max_records: 10 }"
    assert shared(tmp_path, output("a", "o.csv", more=split), output("b", "o.csv")) == []
    assert shared(tmp_path, output("a", "o.csv", more=split), output("b", "o_0001.csv")) == SAME


def test_an_output_and_the_dead_letters(tmp_path: Path) -> None:
    dlq = "{ dlq: { path: ./o.csv } }"
    assert shared(tmp_path, output("a", "o.csv"), dlq=dlq) == [
        "E322 2:32 the dead-letter queue writes to the same file as output 'a'"
    ]
    dlq = "{ dlq: { per_source: { t: { path: o.csv } } } }"
    assert shared(tmp_path, output("a", "o.csv"), dlq=dlq) == [
        "E322 2:51 the dead-letter queue of 't' writes to the same file as output 'a'"
    ]


@pytest.mark.parametrize("path", [".", "out", "out/", "new/", "new/{n}"])
def test_a_directory_is_no_file(tmp_path: Path, path: str) -> None:
    (tmp_path / "out").mkdir()
    assert shared(tmp_path, output("a", path)) == [
        "E075 23:11 the path of output 'a' is a directory"
    ]
    (tmp_path / "letters").mkdir()
    assert shared(tmp_path, dlq="{ dlq: { path: letters } }") == [
        "E075 2:32 the path of the dead-letter queue is a directory"
    ]


def test_an_unknown_source_is_reported_once(tmp_path: Path) -> None:
    found = problems(tmp_path, source() + output(path="{source_name:t}/o.csv"))
    assert [problem.code for problem in found] == ["E073"]


# Objects of stores


def object_problems(folder: Path, path: str, allow: str = "", **options: Any) -> list[Diagnostic]:
    if allow:
        (folder / "clinker.toml").write_text(f'[storage.objects]\nallow = ["{allow}"]\n')
    text = f"pipeline: {{ name: p }}\nnodes:\n{source()}{output(path=path)}"
    return compile_pipeline(text.encode(), "p.yaml", Options(folder, **options)).diagnostics


def test_objects_are_allowed_by_the_workspace_or_the_caller(tmp_path: Path) -> None:
    refused = brief(object_problems(tmp_path, "s3://b/x.csv"))
    message = "'s3://b/x.csv' is in an object store, and clinker.toml does not allow it"
    assert [line.split(" ", 2)[2] for line in refused] == [message]
    assert object_problems(tmp_path, "s3://b/x.csv", allow_absolute_paths=True) == []
    assert object_problems(tmp_path, "s3://b/x.csv", "s3://b/") == []
    assert object_problems(tmp_path, "s3://b/x.csv", "s3://b/in/")
    assert object_problems(tmp_path, "gs://b/x.csv", "s3://b/")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "s3://b/../x.csv",
            "'s3://b/../x.csv' has a part that is empty, '.' or '..', or a control",
        ),
        ("s3:///x.csv", "'s3:///x.csv' names no bucket"),
        ("s3a://b/x.csv", "'s3a' is no kind of store"),
        ("s3://K:S@b/x.csv", "line 15 of p.yaml: 's3://***@b/x.csv' carries credentials"),
        ("s3a://K:S@b/x.csv", "line 15 of p.yaml: 's3a' is no kind of store"),
        ("s3://b/x.csv?sig=S", "line 15 of p.yaml: 's3://b/x.csv?***' carries credentials"),
    ],
)
def test_urls_that_are_not_acceptable(tmp_path: Path, path: str, message: str) -> None:
    (found,) = object_problems(tmp_path, path, allow_absolute_paths=True)
    assert found.code == "E-SEC-001"
    assert found.message.startswith(message)
    if "S" in path:
        assert "S@" not in render_text([found])
        assert "sig" not in render_text([found])


def test_what_is_no_data_is_on_this_machine(tmp_path: Path) -> None:
    text = f"pipeline: {{ name: p, rules_path: 's3://b/rules' }}\nnodes:\n{source()}{output()}"
    options = Options(tmp_path, allow_absolute_paths=True)
    (found,) = compile_pipeline(text.encode(), "p.yaml", options).diagnostics
    assert "where only data, dead letters and schema files can be" in found.message


def test_patterns_of_objects_are_judged_by_their_beginning(tmp_path: Path) -> None:
    (tmp_path / "clinker.toml").write_text('[storage.objects]\nallow = ["s3://b/in/"]\n')

    def judged(glob: str) -> list[Diagnostic]:
        nodes = source(where=f"glob: '{glob}'") + output()
        text = f"pipeline: {{ name: p }}\nnodes:\n{nodes}"
        return compile_pipeline(text.encode(), "p.yaml", Options(tmp_path)).diagnostics

    assert judged("s3://b/in/*/x?.csv") == []
    assert judged("s3://b/in/[ab].csv") == []
    assert judged("s3://b/i*/x.csv")
    assert judged("s3://b*/in/x.csv")
    assert judged("s3a://b/in/*.csv")


def test_outputs_that_share_an_object(tmp_path: Path) -> None:
    nodes = source(where="path: s3://b/x.csv") + output(path="s3://b/x.csv")
    text = f"pipeline: {{ name: p }}\nnodes:\n{nodes}{output('q', 's3://b/y/')}"
    options = Options(tmp_path, allow_absolute_paths=True)
    found = compile_pipeline(text.encode(), "p.yaml", options).diagnostics
    assert [each.code for each in found] == ["E076", "E075"]


def test_the_workspace_allows_what_is_an_object(tmp_path: Path) -> None:
    (found,) = object_problems(tmp_path, "o.csv", "bucket/in")
    assert (found.code, found.message) == ("E033", "'bucket/in' is no bucket of an object store")
