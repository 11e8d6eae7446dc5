"""What `$source` and `$meta` stand for where the records of several inputs meet."""

from __future__ import annotations

from .whole_runs import Workplace

SOURCES = """
        pipeline:
          name: p
          vars: { source: { label: { type: string, default: other } } }
        nodes:
          - { type: source, name: a, config: { type: csv, path: a.csv, schema: { id: int } } }
          - { type: source, name: b, config: { type: csv, path: b.csv, schema: { id: int } } }
          - { type: source, name: c, config: { type: csv, path: c.csv, schema: { id: int } } }
          - { type: output, name: out, input: read, config: { type: csv, path: out.csv } }
"""
CHANNEL = """
channel: { name: labels, target: p.yaml }
vars:
  source:
    a: { label: { type: string, default: of a } }
    b: { label: { type: string, default: of b } }
"""


def result(workplace: Workplace, nodes: str) -> list[str]:
    workplace.write(a_csv="id\n1\n", b_csv="id\n2\n", c_csv="id\n3\n1\n")
    channel = workplace.folder / "labels.channel.yaml"
    channel.write_text(CHANNEL)
    assert workplace.run(SOURCES + nodes, channel=channel).code == 0
    return workplace.read("out.csv").splitlines()


def test_variables_of_an_input_are_not_those_of_the_record(workplace: Workplace) -> None:
    assert result(
        workplace,
        """
          - { type: merge, name: ab, inputs: [a, b] }
          - { type: merge, name: all, inputs: [ab, c] }
          - type: transform
            name: read
            input: all
            config:
              cxl: |
                emit of_a = $source.a.label
                emit of_b = $source.b.label
                emit of_c = $source.c.label
                emit of_ab = $source.ab.label
        """,
    ) == [
        "id,of_a,of_b,of_c,of_ab",
        "1,of a,of b,other,of a",
        "2,of a,of b,other,of b",
        # Which of the two sources would be meant?
        "3,of a,of b,other,",
        "1,of a,of b,other,",
    ]


def test_variables_of_the_inputs_of_a_combine(workplace: Workplace) -> None:
    assert result(
        workplace,
        """
          - type: combine
            name: joined
            input: { left: c, right: a }
            config:
              where: left.id == right.id
              propagate_ck: driver
              cxl: emit id = left.id
          - type: transform
            name: read
            input: joined
            config:
              cxl: |
                emit left = $source.left.label
                emit right = $source.right.label
        """,
    ) == ["id,left,right", "3,other,of a", "1,other,of a"]


def test_a_combine_adds_to_the_metadata_of_its_driver(workplace: Workplace) -> None:
    assert result(
        workplace,
        """
          - type: transform
            name: tagged
            input: c
            config: { cxl: emit meta from = "c" emit meta found = "driver" }
          - type: combine
            name: joined
            input: { left: tagged, right: a }
            config:
              where: left.id == right.id
              propagate_ck: driver
              cxl: |
                emit id = left.id
                emit meta found = right.id
          - type: transform
            name: read
            input: joined
            config: { cxl: emit from = $meta.from emit found = $meta.found }
        """,
    ) == ["id,from,found", "3,c,", "1,c,1"]


def test_a_group_knows_how_many_records_its_source_has(workplace: Workplace) -> None:
    nodes = """
          - type: transform
            name: seen
            input: c
            config: { cxl: "emit so_far = $source.count" }
          - type: aggregate
            name: read
            input: seen
            config:
              group_by: [id]
              cxl: |
                emit known = count(so_far)
                emit share = count(*).to_float() / $source.count.to_float()
    """
    assert result(workplace, nodes) == [
        "id,known,share",
        "3,0,0.5",
        "1,0,0.5",
    ]


def test_a_group_that_fails_by_what_is_known_of_its_source(workplace: Workplace) -> None:
    workplace.write(a_csv="id\n1\n", b_csv="id\n2\n", c_csv="id\n3\n")
    ran = workplace.run(
        SOURCES
        + """
          - type: aggregate
            name: read
            input: a
            config: { group_by: [id], cxl: "emit x = 1 / ($source.count - count(*))" }
    """
    )
    assert (ran.code, "division by zero" in ran.message) == (3, True)
