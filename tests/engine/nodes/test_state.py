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


# Scopes


def test_a_source_variable_begins_anew_in_every_file(workplace: Workplace, either_way: str) -> None:
    workplace.write(a1_csv="id\n1\n2\n3\n", a2_csv="id\n4\n5\n")
    ran = workplace.run(
        """
        pipeline:
          name: p
          vars: { source: { n: { type: int, default: 0 }, all: { type: string, default: "" } } }
        nodes:
          - { type: source, name: a, config: { type: csv, glob: "a*.csv", schema: { id: int } } }
          - type: state
            name: st
            input: a
            config:
              scope: source
              set:
                - { var: n, cxl: $source.n + 1 }
          - type: state
            name: texts
            input: st
            config:
              scope: source
              set:
                - { var: all, cxl: $source.all + id.to_string() }
          - type: transform
            name: t
            input: texts
            config: { cxl: emit n = $source.n emit all = $source.all }
          - { type: output, name: o, input: t, config: { type: csv, path: out.csv } }
        """
    )
    assert ran.code == 0, ran.message
    assert workplace.read("out.csv") == "id,n,all\n1,1,1\n2,2,12\n3,3,123\n4,1,4\n5,2,45\n"


def test_a_record_variable_is_that_of_the_record(workplace: Workplace) -> None:
    nodes = assigned(
        "record",
        """
                - { var: x, cxl: $record.x + amount }
                - { var: y, cxl: "if $record.x > 108 then 'large' else 'small'" }
        """,
        "filter id != 2 emit x = $record.x emit y = $record.y",
    )
    variables = "{ record: { x: { type: int, default: 100 }, y: { type: string } } }"
    assert run(workplace, variables, nodes).code == 0
    assert column(workplace) == ["110,large", "120,large", "107,small"]


def test_later_assignments_see_earlier_ones(workplace: Workplace) -> None:
    nodes = assigned(
        "pipeline",
        """
                - { var: n, cxl: $pipeline.n + 1 }
                - { var: label, cxl: "'row ' + $pipeline.n.to_string()" }
                - { var: before, cxl: $pipeline.after }
                - { var: after, cxl: $pipeline.n }
        """,
        "emit n = $pipeline.n emit l = $pipeline.label emit b = $pipeline.before",
    )
    variables = """{ pipeline: { n: { type: int, default: 0 }, label: { type: string },
                     before: { type: int }, after: { type: int, default: -1 } } }"""
    assert run(workplace, variables, nodes).code == 0
    assert column(workplace) == ["1,row 1,-1", "2,row 2,1", "3,row 3,2", "4,row 4,3"]


# Failures


FAILING = {
    "by itself": ("$pipeline.x + 100 / (amount - 5)", ["20", "26", "76"]),
    "by what came before": ("$pipeline.x + 30 / (12 - $pipeline.x)", ["2", "5", "9", "19"]),
    "in an argument": ("sum(100 / (amount - 5))", ["20", "26", "76"]),
}


@pytest.mark.parametrize("case", FAILING)
def test_a_fold_goes_on_without_a_record_that_fails(case: str, workplace: Workplace) -> None:
    cxl, expected = FAILING[case]
    nodes = assigned("pipeline", f'[{{ var: x, cxl: "{cxl}" }}]', "emit x = $pipeline.x")
    ran = run(workplace, "{ pipeline: { x: { type: int, default: 0 } } }", nodes)
    assert column(workplace) == expected
    if len(expected) < 4:
        assert ran.code == 2
        (entry,) = column(workplace, "dlq.csv")
        assert ",orders,2,st," in entry
        assert "division by zero" in entry


def test_a_sum_that_overflows_rejects_only_the_record(workplace: Workplace) -> None:
    orders = "id,amount,region\n1,10,a\n2,9223372036854775807,a\n3,5,a\n"
    nodes = assigned(
        "pipeline",
        """
                - { var: x, cxl: $pipeline.x + amount }
                - { var: y, cxl: sum(amount) }
        """,
        "emit x = $pipeline.x emit y = $pipeline.y",
    )
    variables = "{ pipeline: { x: { type: int, default: 0 }, y: { type: int } } }"
    ran = run(workplace, variables, nodes, orders=orders)
    assert ran.code == 2
    assert column(workplace) == ["10,10", "15,15"]
    assert "integer overflow in addition" in workplace.read("dlq.csv")


def test_records_that_were_rejected_or_dropped_before_do_not_count(workplace: Workplace) -> None:
    nodes = """
          - type: transform
            name: some
            input: orders
            config: { cxl: "filter region == 'eu' or id == 4 emit y = 1 / (amount - 10)" }
          - type: state
            name: st
            input: some
            config: { scope: pipeline, set: [{ var: n, cxl: $pipeline.n + 1 }] }
          - type: transform
            name: read
            input: st
            config: { cxl: emit id = id emit n = $pipeline.n }
    """
    ran = run(workplace, "{ pipeline: { n: { type: int, default: 0 } } }", nodes)
    assert ran.code == 2
    assert column(workplace) == ["3,1", "4,2"]


def test_a_value_of_another_kind_fails(workplace: Workplace) -> None:
    workplace.write(a_ndjson='{"v": 1}\n{"v": "x"}\n{"v": 2.5}\n{"v": null}\n')
    ran = workplace.run(
        """
        pipeline: { name: p, vars: { record: { f: { type: float } } } }
        error_handling: { strategy: continue, dlq: { path: dlq.csv } }
        nodes:
          - { type: source, name: a, config: { type: json, path: a.ndjson, schema: { v: any },
              options: { format: ndjson } } }
          - { type: state, name: st, input: a,
              config: { scope: record, set: [{ var: f, cxl: v }] } }
          - { type: transform, name: t, input: st, config: { cxl: emit f = $record.f } }
          - { type: output, name: o, input: t,
              config: { type: csv, path: out.csv, include_unmapped: false } }
        """
    )
    assert ran.code == 2
    assert column(workplace) == ["1", "2.5", '""']
    assert "$record.f is Float, got String" in workplace.read("dlq.csv")


# Ways


def test_a_later_writer_on_the_way_goes_on_from_the_earlier_one(workplace: Workplace) -> None:
    nodes = """
          - { type: state, name: one, input: orders,
              config: { scope: pipeline, set: [{ var: n, cxl: $pipeline.n + 1 }] } }
          - { type: state, name: two, input: one,
              config: { scope: pipeline, set: [{ var: n, cxl: $pipeline.n * 10 }] } }
          - { type: transform, name: read, input: two, config: { cxl: emit n = $pipeline.n } }
    """
    assert run(workplace, "{ pipeline: { n: { type: int, default: 0 } } }", nodes).code == 0
    assert column(workplace) == ["10", "20", "30", "40"]


def test_records_that_met_no_writer_find_what_was_left(workplace: Workplace) -> None:
    nodes = """
          - { type: route, name: r, input: orders,
              config: { conditions: { eu: "region == 'eu'" }, default: us } }
          - { type: state, name: st, input: r.eu,
              config: { scope: pipeline, set: [{ var: n, cxl: $pipeline.n + 1 }] } }
          - { type: transform, name: us, input: r.us, config: { cxl: emit amount = 1 } }
          - { type: merge, name: all, inputs: [us, st] }
          - { type: transform, name: read, input: all,
              config: { cxl: "emit id = id emit n = $pipeline.n" } }
    """
    assert run(workplace, "{ pipeline: { n: { type: int, default: 0 } } }", nodes).code == 0
    assert column(workplace) == ["2,2", "4,2", "1,1", "3,2"]


def test_groups_find_what_was_left(workplace: Workplace) -> None:
    nodes = """
          - { type: state, name: st, input: orders,
              config: { scope: pipeline, set: [{ var: n, cxl: $pipeline.n + 1 }] } }
          - type: aggregate
            name: groups
            input: st
            config:
              group_by: [region]
              cxl: |
                emit seen = max($pipeline.n)
                emit total = $pipeline.n
          - { type: transform, name: read, input: groups,
              config: { cxl: "emit region = region emit seen = seen emit total = total
                              emit again = $pipeline.n" } }
    """
    ran = run(workplace, "{ pipeline: { n: { type: int, default: 0 } } }", nodes)
    assert ran.code == 0, ran.message
    assert column(workplace) == ["eu,3,4,4", "us,4,4,4"]


def test_variables_of_build_inputs_and_drivers(workplace: Workplace) -> None:
    nodes = """
          - { type: state, name: st, input: orders,
              config: { scope: source, set: [{ var: n, cxl: $source.n + 1 }] } }
          - { type: source, name: regions,
              config: { type: csv, path: regions.csv, schema: { region: string } } }
          - { type: state, name: built, input: regions,
              config: { scope: source, set: [{ var: n, cxl: $source.n + 10 }] } }
          - type: combine
            name: both
            input: { o: st, r: built }
            config:
              where: o.region == r.region
              propagate_ck: driver
              cxl: emit id = o.id
          - { type: transform, name: read, input: both,
              config: { cxl: "emit own = $source.o.n emit other = $source.r.n" } }
    """
    variables = "{ source: { n: { type: int, default: 0 } } }"
    ran = run(workplace, variables, nodes, regions_csv="region\neu\nus\n")
    assert ran.code == 0, ran.message
    assert column(workplace) == ["1,20", "2,20", "3,20", "4,20"]


# Before the run


INIT = """
          - { type: source, name: history,
              config: { type: csv, path: history.csv, schema: { v: int } } }
          - { type: state, name: first, input: history,
              config: { scope: pipeline, phase: init,
                        set: [{ var: n, cxl: $pipeline.n + 10 / v }] } }
"""


def test_all_readers_find_what_the_init_phase_has_left(workplace: Workplace) -> None:
    nodes = INIT + assigned(
        "pipeline",
        "[{ var: n, cxl: $pipeline.n + 1 }]",
        "emit n = $pipeline.n",
    )
    variables = "{ pipeline: { n: { type: int, default: 100 } } }"
    ran = run(workplace, variables, nodes, history_csv="v\n5\n0\n10\n")
    assert ran.code == 2
    assert column(workplace) == ["104", "105", "106", "107"]
    (entry,) = column(workplace, "dlq.csv")
    assert ",history,2,first," in entry


def test_the_init_phase_may_share_a_source(workplace: Workplace) -> None:
    nodes = """
          - { type: state, name: first, input: orders,
              config: { scope: pipeline, phase: init, set: [{ var: n, cxl: max(amount) }] } }
          - { type: transform, name: read, input: orders,
              config: { cxl: "emit share = amount.to_float() / $pipeline.n.to_float()" } }
    """
    ran = run(workplace, "{ pipeline: { n: { type: int } } }", nodes)
    assert ran.code == 0, ran.message
    assert column(workplace) == ["0.5", "0.25", "1", "0.35"]


# What the engine provides


def test_event_times_are_moved_back_by_the_delay(workplace: Workplace) -> None:
    workplace.write(a_csv="at\n2026-01-01T00:00:30\n")
    ran = workplace.run(
        """
        pipeline: { name: p }
        nodes:
          - { type: source, name: a, config: { type: csv, path: a.csv, schema: { at: date_time },
              watermark: { column: at, delay: 10s } } }
          - { type: transform, name: t, input: a,
              config: { cxl: "emit at = at.add_days(1) emit e = $source.event_time
                              emit n = $pipeline.total_count" } }
          - { type: output, name: o, input: t, config: { type: csv, path: out.csv } }
        """
    )
    assert ran.code == 0, ran.message
    assert workplace.read("out.csv").splitlines()[1] == ("2026-01-02T00:00:30,2026-01-01T00:00:20,")


# Messages


def test_messages_tell_variables_as_of_the_record_or_in_the_end(workplace: Workplace) -> None:
    nodes = """
          - { type: state, name: st, input: orders,
              config: { scope: pipeline, set: [{ var: n, cxl: $pipeline.n + 1 }] } }
          - type: transform
            name: read
            input: st
            config:
              cxl: |
                trace warn if $pipeline.n > 2 then "record " + $pipeline.n.to_string()
                emit n = $pipeline.n
              log:
                - { level: warn, when: before_transform, message: "0", condition: $pipeline.n == 0 }
                - { level: warn, when: after_transform, message: all, condition: $pipeline.n == 4 }
    """
    ran = run(workplace, "{ pipeline: { n: { type: int, default: 0 } } }", nodes)
    assert ran.code == 0, ran.message
    said = [message for message in ran.messages if " read: " in message]
    assert said == [
        "warn read: 0",
        "warn read: record 3",
        "warn read: record 4",
        "warn read: all",
    ]
