"""The example of retraction does what its comments say."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path

from clinker.engine.report.as_metrics import metrics
from clinker.engine.run.observer import Quiet
from clinker.engine.run.run import run_in
from clinker.engine.session.session import Session
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options

EXAMPLE = Path(__file__).parents[3] / "src" / "clinker" / "examples" / "retract_demo"


def test_failures_before_and_behind_the_sums(session: Session, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    text = (tmp_path / "pipeline.yaml").read_bytes()
    compiled = compile_pipeline(text, "pipeline.yaml", Options(tmp_path))
    assert compiled.plan
    report = run_in(compiled.plan, session, Quiet())
    assert report.exit_code == 2
    facts = metrics(compiled.plan, report, threads=1)
    assert facts["correlation"] == {
        "retract": {
            "rounds": 5,
            "groups_recomputed": None,
            "partitions_recomputed": 0,
            "subdag_replay_rows": 20,
            "output_rows_retracted_total": 1,
            "synthetic_ck_columns_emitted_total": 1,
            "synthetic_ck_fanout_lookups_total": 1,
            "synthetic_ck_fanout_rows_expanded_total": 2,
            "degrade_fallback_count": 0,
        }
    }
    lines = (tmp_path / "out/lines.csv").read_text()
    assert lines == "order_id,department,amount\nO1,HR,10\nO1,HR,20\nO3,ENG,200\n"
    # O2 is not written, since one of its lines fails; the other still counts in the total.
    departments = (tmp_path / "out/departments.csv").read_text()
    assert departments == (
        "department,total,orders,$ck.aggregate.totals,per_mille\nHR,30,2,0,33.3\nENG,300,2,1,3.3\n"
    )
    rows = csv.DictReader(io.StringIO((tmp_path / "out/rejected.csv").read_text()))
    columns = ("source_name", "source_row", "stage", "error_category", "error_detail")
    assert [tuple(row[f"_cxl_dlq_{name}"] for name in columns) for row in rows] == [
        ("orders", "3", "parsed", "type_coercion_failure", "cannot convert 'thirty' to Int"),
        (
            *("orders", "4", "lines", "correlated"),
            "correlated with failure in group: cannot convert 'thirty' to Int",
        ),
        ("<merged>", "6", "shares", "type_coercion_failure", "division by zero"),
        *(
            (
                *("orders", row, "shares", "correlated"),
                "correlated with failure in group: division by zero",
            )
            for row in ("6", "7")
        ),
    ]
