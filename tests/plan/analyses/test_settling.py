"""How failures of correlated records are settled, and what they take along."""

from __future__ import annotations

from clinker.config.names import FanoutPolicy
from clinker.plan.analyses.correlation import plan_correlation
from clinker.plan.analyses.ordering import plan_order
from clinker.plan.analyses.settling import Settling, plan_settling
from clinker.plan.analyses.windows import plan_windows
from tests.plan.compiling import bound


def settled(nodes: str, error_handling: str = "{}") -> Settling:
    p = bound(nodes, error_handling)
    handling = p.pipeline.error_handling
    correlation, _ = plan_correlation(p.graph, p.nodes, handling)
    orders, _ = plan_order(p.nodes, correlation)
    windows, _ = plan_windows(p.graph, p.nodes, correlation, orders)
    return plan_settling(p.graph, p.nodes, correlation, windows, handling)


def source(name: str, policy: FanoutPolicy | None = None) -> str:
    own = f"correlation_fanout_policy: {policy}," if policy else ""
    return f"""\
- type: source
  name: {name}
  config: {{ type: csv, path: {name}.csv, correlation_key: id, {own} schema: {{ id: string }} }}
"""


def combine(driver: str, build: str, policy: FanoutPolicy) -> str:
    return f"""\
- type: combine
  name: joined
  input: {{ d: {driver}, b: {build} }}
  config:
    where: d.id == b.id
    propagate_ck: driver
    cxl: emit id = d.id
    correlation_fanout_policy: {policy}
"""


def output(name: str, upstream: str, policy: FanoutPolicy | None = None) -> str:
    own = f", correlation_fanout_policy: {policy}" if policy else ""
    return f"""\
- type: output
  name: {name}
  input: {upstream}
  config: {{ type: csv, path: {name}.csv{own} }}
"""


MERGED = source("a") + source("b", "all") + "- { type: merge, name: m, inputs: [a, b] }\n"
PRIMARY = "{ correlation_fanout_policy: primary }"


def test_a_source_has_its_own_policy_or_that_of_the_pipeline() -> None:
    policies = settled(MERGED + output("o", "m"), PRIMARY).policies
    assert policies == {"o": {"a": "primary", "b": "all"}}


def test_the_policy_of_an_output_counts_for_all_that_it_writes() -> None:
    policies = settled(MERGED + output("o", "m", "any") + output("p", "m"), PRIMARY).policies
    assert policies["o"] == {"a": "any", "b": "any"}
    assert policies["p"] == {"a": "primary", "b": "all"}


def test_the_policy_of_a_combine_counts_for_the_outputs_behind_it() -> None:
    nodes = source("a") + source("b", "all") + combine("b", "a", "primary")
    nodes += "- { type: merge, name: m, inputs: [a, joined] }\n"
    ends = output("o", "joined") + output("p", "joined", "any") + output("q", "m")
    policies = settled(nodes + ends).policies
    assert policies["o"] == policies["q"] == {"a": "primary", "b": "primary"}
    assert policies["p"] == {"a": "any", "b": "any"}


def test_an_aggregate_by_the_key_does_what_all_outputs_behind_it_do() -> None:
    counted = """\
- type: aggregate
  name: counted
  input: m
  config: { group_by: [id], cxl: emit n = count(*) }
"""
    nodes = MERGED + counted + output("o", "counted", "primary")
    assert settled(nodes).policies["counted"] == {"a": "primary", "b": "primary"}
    nodes += output("p", "counted")
    assert settled(nodes).policies["counted"] == {"a": "any", "b": "all"}


# What can change


def reaching(nodes: str) -> dict[str, str]:
    """By output, the names of the sources that reach it, which have one letter each."""
    found = settled(nodes).reaching
    return {name: "".join(sorted(found[name])) for name in "opq" if name in found}


BY_KEY = """\
- type: aggregate
  name: NAME
  input: INPUT
  config: { group_by: [id], cxl: emit n = count(*) }
"""


def by_key(name: str, upstream: str) -> str:
    return BY_KEY.replace("NAME", name).replace("INPUT", upstream)


def test_an_output_is_reached_by_all_that_it_is_made_of() -> None:
    nodes = source("a") + source("b") + source("c")
    merged = "- { type: merge, name: m, inputs: [a, b] }\n"
    ends = output("o", "a") + output("p", "m") + by_key("n", "c") + output("q", "n")
    assert reaching(nodes + merged + ends) == {"o": "a", "p": "ab", "q": "c"}


def test_joined_records_are_reached_by_all_whose_groups_they_may_be_in() -> None:
    other = source("d").replace("id", "number")
    nodes = source("a") + source("b") + source("c") + other + combine("a", "b", "any")
    ends = output("o", "joined") + by_key("n", "joined") + output("p", "n") + output("q", "c")
    assert reaching(nodes + ends) == {"o": "abc", "p": "abc", "q": "c"}


def test_groups_of_joined_records_are_reached_like_these_only_if_they_fall_with_them() -> None:
    nodes = source("a") + source("b") + source("c") + combine("a", "b", "any")
    relaxed = by_key("n", "joined").replace("[id]", "[]")
    assert reaching(nodes + relaxed + output("o", "n")) == {"o": "ab"}


def test_what_is_looked_up_reaches_an_output() -> None:
    looking = """\
- type: transform
  name: t
  input: a
  config:
    analytic_window: { source: b, group_by: [id] }
    cxl: emit n = $window.count()
"""
    nodes = source("a") + source("b") + looking + output("o", "t") + output("p", "a")
    assert reaching(nodes) == {"o": "ab", "p": "a"}


def test_the_init_phase_reaches_all_outputs() -> None:
    before = """\
- type: state
  name: s
  input: b
  config: { scope: pipeline, phase: init, set: [{ var: last, cxl: id }] }
"""
    assert reaching(source("a") + source("b") + before + output("o", "a")) == {"o": "ab"}
