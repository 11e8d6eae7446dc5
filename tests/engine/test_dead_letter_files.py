"""The file of dead letters: what becomes of one that an earlier run has written."""

from __future__ import annotations

from .whole_runs import Ran, Workplace

PIPELINE = """
pipeline: {{ name: p }}
nodes:
  - type: source
    name: rows
    config: {{ type: csv, path: in.csv, schema: [{{ name: id, type: int }}] }}
  - type: source
    name: others
    config: {{ type: csv, path: others.csv, schema: [{{ name: id, type: int }}] }}
  - {{ type: output, name: a, input: rows, config: {{ type: csv, path: a.csv }} }}
  - {{ type: output, name: b, input: others, config: {{ type: csv, path: b.csv }} }}
error_handling:
  strategy: {strategy}
  dlq: {dlq}
"""
GOOD, BAD = "id\n1\n", "id\n1\nx\n"
OLD = "letters of an earlier run\n"


def run(
    workplace: Workplace,
    rows: str,
    dlq: str = "{ path: bad.csv }",
    *,
    others: str = GOOD,
    force: bool = False,
    strategy: str = "continue",
) -> Ran:
    workplace.write(in_csv=rows, others_csv=others)
    return workplace.run(PIPELINE.format(dlq=dlq, strategy=strategy), force=force)


def rejected(workplace: Workplace, name: str) -> list[str]:
    """The last cell of every entry: the field of the source."""
    return [line.rpartition(",")[2] for line in workplace.read(name).splitlines()[1:]]


def test_an_existing_file_stops_the_run_before_it_reads(workplace: Workplace) -> None:
    workplace.write(bad_csv=OLD)
    ran = run(workplace, 'id\n"never read')
    assert (ran.code, ran.message) == (4, f"'{workplace.folder}/bad.csv' exists already")
    assert ran.help == "use --force to overwrite it, or set 'if_exists' of the dead-letter queue"
    assert workplace.read("bad.csv") == OLD


def test_force_replaces_it(workplace: Workplace) -> None:
    workplace.write(bad_csv=OLD)
    assert run(workplace, BAD, force=True).code == 2
    assert rejected(workplace, "bad.csv") == ["x"]


def test_without_rejected_records_nothing_older_looks_current(workplace: Workplace) -> None:
    for dlq, force in (
        ("{ path: bad.csv }", True),
        ("{ path: bad.csv, if_exists: overwrite }", False),
    ):
        workplace.write(bad_csv=OLD)
        for name in ("a.csv", "b.csv"):
            (workplace.folder / name).unlink(missing_ok=True)
        ran = run(workplace, GOOD, dlq, force=force)
        assert (ran.code, ran.report and ran.report.dead_letter_files) == (0, ())
        assert workplace.files() == ["a.csv", "b.csv", "in.csv", "others.csv"]


def test_a_run_that_fails_leaves_it_alone(workplace: Workplace) -> None:
    workplace.write(bad_csv=OLD)
    assert run(workplace, BAD, force=True, strategy="fail_fast").code == 3
    assert workplace.read("bad.csv") == OLD


def test_another_name_is_reported(workplace: Workplace) -> None:
    workplace.write(bad_csv=OLD)
    ran = run(workplace, BAD, "{ path: bad.csv, if_exists: unique_suffix }", force=True)
    assert ran.report
    (file,) = ran.report.dead_letter_files
    assert (file.path.name, file.entries) == ("bad-1.csv", 1)
    assert (workplace.read("bad.csv"), rejected(workplace, "bad-1.csv")) == (OLD, ["x"])
    assert run(workplace, GOOD, "{ path: bad.csv, if_exists: unique_suffix }", force=True).code == 0
    assert workplace.read("bad.csv") == OLD


def test_queues_of_sources_follow_the_common_one(workplace: Workplace) -> None:
    dlq = "{ path: bad.csv, if_exists: overwrite, per_source: { others: { path: worse.csv%s } } }"
    workplace.write(worse_csv=OLD)
    assert run(workplace, BAD, dlq % "", others="id\ny\n").code == 2
    assert (rejected(workplace, "bad.csv"), rejected(workplace, "worse.csv")) == (["x"], ["y"])
    ran = run(workplace, BAD, dlq % ", if_exists: error")
    assert ran.message == f"'{workplace.folder}/a.csv' exists already"
    for name in ("a.csv", "b.csv"):
        (workplace.folder / name).unlink()
    ran = run(workplace, BAD, dlq % ", if_exists: error")
    assert ran.message == f"'{workplace.folder}/worse.csv' exists already"
