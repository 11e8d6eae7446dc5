"""What may be written for a call of a composition."""

from __future__ import annotations

from clinker.config.nodes import CompositionNode
from clinker.config.reference import Ref
from tests.config.loading import accepted, load_node


def test_composition_settings() -> None:
    (call,) = accepted(
        load_node(
            """\
            - type: composition
              name: enrich
              input: customers
              use: ./a.comp.yaml
              inputs: { primary: customers, reference: r.low }
              outputs: { normalized: next_stage }
              config: { country: US, limits: [1, 2] }
              resources: { zips: ./zip.csv }
              alias: addr
            """
        )
    ).nodes
    assert isinstance(call, CompositionNode)
    assert call.inputs["reference"] == Ref("r", "low")
    assert call.config == {"country": "US", "limits": (1, 2)}
    assert call.at("config", "country").start == (9, 24)
