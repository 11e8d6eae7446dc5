"""State nodes: what records carry of variables, and what is left in them."""

from __future__ import annotations

import pytest

from tests.engine.whole_runs import Ran, Workplace

ORDERS = "id,amount,region\n1,10,eu\n2,5,us\n3,20,eu\n4,7,us\n"


def run(workplace: Workplace, variables: str, nodes: str, **files: str) -> Ran:
    workplace.write(orders_csv=files.pop("orders", ORDERS), **files)
    return workplace.run(
        f"""
        pipeline:
          name: p
          vars: {variables}
        error_handling: {{ strategy: continue, dlq: {{ path: dlq.csv }} }}
        nodes:
          - type: source
            name: orders
            config: {{ type: csv, path: orders.csv,
                       schema: {{ id: int, amount: int, region: string }} }}
          - {{ type: output, name: out, input: read,
              config: {{ type: csv, path: out.csv, include_unmapped: false }} }}
        """
        + nodes,
        force=True,
    )


def column(workplace: Workplace, name: str = "out.csv") -> list[str]:
    return workplace.read(name).splitlines()[1:]


def assigned(scope: str, assignments: str, read: str) -> str:
    return f"""
          - type: state
            name: st
            input: orders
            config:
              scope: {scope}
              set: {assignments}
          - type: transform
            name: read
            input: st
            config: {{ cxl: "{read}" }}
    """


FOLDS = {
    "count": ("{ type: int, default: 0 }", "$pipeline.x + 1", ["1", "2", "3", "4"]),
    "sum": ("{ type: int, default: 100 }", "$pipeline.x + amount", ["110", "115", "135", "142"]),
    "sum, other way": (
        "{ type: int, default: 0 }",
        "amount + $pipeline.x",
        ["10", "15", "35", "42"],
    ),
    "difference": ("{ type: int, default: 50 }", "$pipeline.x - amount", ["40", "35", "15", "8"]),
    "float sum": (
        "{ type: float, default: 0.1 }",
        "$pipeline.x + amount.to_float() / 10.0",
        ["1.1", "1.6", "3.6", "4.3"],
    ),
    "nothing before": ("{ type: int }", "$pipeline.x + amount", ['""'] * 4),
    "nothing before, begun": ("{ type: int }", "($pipeline.x ?? 0) + 1", ["1", "2", "3", "4"]),
    "max": (
        "{ type: int, default: 6 }",
        "if amount > $pipeline.x then amount else $pipeline.x",
        ["10", "10", "20", "20"],
    ),
    "min": (
        "{ type: int, default: 8 }",
        "if amount < $pipeline.x then amount else $pipeline.x",
        ["8", "5", "5", "5"],
    ),
    "max method": (
        "{ type: int, default: 6 }",
        "$pipeline.x.max(amount)",
        ["10", "10", "20", "20"],
    ),
    "first": ("{ type: string }", "$pipeline.x ?? region", ["eu", "eu", "eu", "eu"]),
    "last": ("{ type: string }", "region ?? $pipeline.x", ["eu", "us", "eu", "us"]),
    "guarded": (
        "{ type: int, default: 0 }",
        "if region == 'us' then $pipeline.x + amount else $pipeline.x",
        ["0", "5", "5", "12"],
    ),
    "guarded, other way": (
        "{ type: int, default: 0 }",
        "if region == 'us' then $pipeline.x else $pipeline.x + 1",
        ["1", "1", "2", "2"],
    ),
    "a sum that restarts": (
        "{ type: int, default: 0 }",
        "if region == 'us' then 0 else $pipeline.x + 1",
        ["1", "0", "1", "0"],
    ),
    "a product": ("{ type: int, default: 1 }", "$pipeline.x * 2", ["2", "4", "8", "16"]),
    "a text": (
        "{ type: string, default: '' }",
        "$pipeline.x + region",
        ["eu", "euus", "euuseu", "euuseuus"],
    ),
    "own write": ("{ type: int }", "amount * 2", ["20", "10", "40", "14"]),
    "running sum": ("{ type: int }", "sum(amount)", ["10", "15", "35", "42"]),
    "running mean": ("{ type: float }", "avg(amount)", ["10", "7.5", "11.666666666666666", "10.5"]),
    "running count": ("{ type: int }", "count(*) * 10", ["10", "20", "30", "40"]),
    "running first": ("{ type: string }", "first(this.region)", ["eu"] * 4),
    "running max": ("{ type: int }", "max(amount)", ["10", "10", "20", "20"]),
}


@pytest.mark.parametrize("case", FOLDS)
def test_what_a_record_carries(case: str, workplace: Workplace) -> None:
    variable, cxl, expected = FOLDS[case]
    nodes = assigned("pipeline", f'[{{ var: x, cxl: "{cxl}" }}]', "emit x = $pipeline.x")
    ran = run(workplace, f"{{ pipeline: {{ x: {variable} }} }}", nodes)
    assert ran.code == 0, ran.message
    assert column(workplace) == expected
