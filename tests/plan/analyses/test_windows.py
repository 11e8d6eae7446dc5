"""Which records a window looks at."""

from __future__ import annotations

import pytest

from clinker.cxl.run.window_spec import FrameSpec, FrameUnit, SortKey, WindowSpec
from clinker.diagnostics import Diagnostic
from clinker.plan.analyses.correlation import plan_correlation
from clinker.plan.analyses.ordering import plan_order
from clinker.plan.analyses.windows import Window, plan_windows
from tests.plan.compiling import bound, brief, notes


def windowed(nodes: str) -> tuple[dict[str, Window], list[Diagnostic]]:
    p = bound(nodes)
    correlation, _ = plan_correlation(p.graph, p.nodes, p.pipeline.error_handling)
    orders, _ = plan_order(p.nodes, correlation)
    return plan_windows(p.graph, p.nodes, correlation, orders)


def sales(more: str = "", name: str = "sales") -> str:
    """A source of four lines."""
    return f"""\
- type: source
  name: {name}
  config: {{ type: csv, path: s.csv, {more}
    schema: {{ store_id: string, day: date, revenue: float, product_id: string }} }}
"""


PRODUCTS = """\
- type: source
  name: products
  config: { type: csv, path: p.csv, schema: { product_id: string, code: string, price: float } }
"""


def analysis(
    window: str, cxl: str = "emit total = $window.sum(revenue)", upstream: str = "sales"
) -> str:
    """A windowed transform of six lines; its window is in the fifth."""
    return f"""\
- type: transform
  name: analysis
  input: {upstream}
  config:
    analytic_window: {window}
    cxl: {cxl}
"""


def test_a_window_covers_the_records_before_it() -> None:
    windows, problems = windowed(
        sales() + analysis("{ group_by: [store_id], sort_by: [{ field: day, order: desc }] }")
    )
    assert problems == []
    assert windows == {
        "analysis": Window(
            spec=WindowSpec(("store_id",), (SortKey("day", descending=True),), FrameSpec()),
            root="sales",
            lookup=None,
            reads=("store_id", "day", "revenue"),
            buffered=False,
            already_sorted=False,
        )
    }


@pytest.mark.parametrize(
    ("frame", "spec"),
    [
        ("{ rows: unbounded_preceding..current_row }", FrameSpec(FrameUnit.ROWS, None, 0)),
        ("{ rows: 3 preceding..1 following }", FrameSpec(FrameUnit.ROWS, -3, 1)),
        (
            "{ rows: unbounded_preceding..unbounded_following }",
            FrameSpec(FrameUnit.ROWS, None, None),
        ),
        ("{ range: 7 preceding }", FrameSpec(FrameUnit.RANGE, -7, 0)),
    ],
)
def test_frames(frame: str, spec: FrameSpec) -> None:
    windows, problems = windowed(
        sales() + analysis(f"{{ group_by: [], sort_by: [day], frame: {frame} }}")
    )
    assert problems == []
    assert windows["analysis"].spec.frame == spec


def test_nulls_first() -> None:
    windows, _ = windowed(
        sales() + analysis("{ group_by: [], sort_by: [{ field: day, null_order: first }] }")
    )
    assert windows["analysis"].spec.sort_by == (SortKey("day", nulls_first=True),)


def test_a_source_may_already_be_in_the_order_of_the_window() -> None:
    windows, _ = windowed(
        sales("sort_order: [store_id, day],") + analysis("{ group_by: [store_id], sort_by: [day] }")
    )
    assert windows["analysis"].already_sorted


def test_routes_are_no_roots() -> None:
    route = "- { type: route, name: r, input: sales,"
    route += " config: { conditions: { big: revenue > 1.0 }, default: small } }\n"
    windows, problems = windowed(
        sales() + route + analysis("{ group_by: [store_id] }", upstream="r.big")
    )
    assert problems == []
    assert windows["analysis"].root == "sales"


def test_a_window_may_cover_a_merge() -> None:
    merge = "- { type: merge, name: m, inputs: [sales, more] }\n"
    windows, problems = windowed(
        sales() + sales(name="more") + merge + analysis("{ group_by: [store_id] }", upstream="m")
    )
    assert problems == []
    assert windows["analysis"].root == "m"


# Fields


def test_the_fields_of_a_window_exist_where_it_is_rooted() -> None:
    aggregate = """\
- type: aggregate
  name: daily
  input: sales
  config: { group_by: [day], cxl: emit revenue = sum(revenue) }
"""
    _, problems = windowed(
        sales() + aggregate + analysis("{ group_by: [store_id], sort_by: [dya] }", upstream="daily")
    )
    assert brief(problems) == [
        "E150b 16:35 the window has no field 'store_id': 'daily' gives none",
        "E150b 16:56 the window has no field 'dya': 'daily' gives none",
    ]
    assert notes(problems[0]) == ["9:9 the window covers these records"]
    assert problems[0].help == "emit it upstream, or use one of: day, revenue"
    assert problems[1].help == "did you mean 'day'?"


def test_a_window_is_checked_even_if_the_program_has_errors() -> None:
    _, problems = windowed(sales() + analysis("{ group_by: [shop] }", "emit x = nope"))
    assert [p.code for p in problems] == ["E150b"]


def test_a_window_cannot_read_collected_arrays() -> None:
    combine = """\
- type: combine
  name: joined
  input: { s: sales, items: products }
  config: { where: s.product_id == items.product_id, match: collect, propagate_ck: driver }
"""
    _, problems = windowed(
        sales()
        + PRODUCTS
        + combine
        + analysis("{ group_by: [items] }", "emit n = $window.first_value(items)", "joined")
    )
    assert brief(problems) == [
        "E150e 19:35 a window cannot read 'items', the array that 'joined' collects",
        "E150e 20:39 a window cannot read 'items', the array that 'joined' collects",
    ]


def test_every_record_stays_in_its_window() -> None:
    _, problems = windowed(
        sales() + analysis("{ group_by: [], sort_by: [{ field: day, null_order: drop }] }")
    )
    assert brief(problems) == [
        "E042 12:74 a window cannot drop the records without 'day': every record gets its values"
    ]


def test_a_range_needs_something_to_measure() -> None:
    _, problems = windowed(
        sales() + analysis("{ group_by: [], sort_by: [store_id], frame: { range: 7 preceding } }")
    )
    assert brief(problems) == [
        "E044 12:75 a frame by range needs a number or a date to measure, 'store_id' is String"
    ]
    assert notes(problems[0]) == ["12:48 sorted by this"]


# Lookups

LOOKUP = "{ source: products, on: product_id, group_by: [product_id] }"


def test_a_window_may_look_up_records_of_another_source() -> None:
    windows, problems = windowed(
        sales() + PRODUCTS + analysis(LOOKUP, "emit unit_price = $window.first()")
    )
    assert problems == []
    assert windows["analysis"] == Window(
        spec=WindowSpec(("product_id",), (), FrameSpec(FrameUnit.ROWS, None, None)),
        root="products",
        lookup=("product_id",),
        reads=("product_id", "price"),
        buffered=False,
        already_sorted=True,
    )


@pytest.mark.parametrize(
    ("window", "lookup"),
    [
        ("{ source: products, group_by: [product_id] }", ("product_id",)),
        ("{ source: products, on: store_id, group_by: [code] }", ("store_id",)),
        ("{ source: products, group_by: [] }", ()),
    ],
)
def test_the_fields_by_which_records_are_looked_up(window: str, lookup: tuple[str, ...]) -> None:
    windows, problems = windowed(sales() + PRODUCTS + analysis(window, "emit n = $window.count()"))
    assert problems == []
    assert windows["analysis"].lookup == lookup


def test_records_are_looked_up_by_fields_that_exist() -> None:
    text = sales() + PRODUCTS
    count = "emit n = $window.count()"
    _, problems = windowed(text + analysis("{ source: products, group_by: [code] }", count))
    assert brief(problems) == [
        "E043 15:53 the window looks up records by 'code', which the current record does not have"
    ]
    _, problems = windowed(
        text + analysis("{ source: products, on: prodct_id, group_by: [code] }", count)
    )
    assert brief(problems) == [
        "E043 15:46 the window looks up records by 'prodct_id', "
        "which the current record does not have"
    ]
    assert problems[0].help == "did you mean 'product_id'?"
    _, problems = windowed(
        text + analysis("{ source: products, on: store_id, group_by: [code, price] }", count)
    )
    assert brief(problems) == [
        "E043 15:46 'on' gives one value to look up, but group_by has 2 fields"
    ]


def test_the_fields_of_a_lookup_are_those_of_the_other_source() -> None:
    _, problems = windowed(
        sales()
        + PRODUCTS
        + analysis(
            "{ source: products, on: store_id, group_by: [store_id] }", "emit n = $window.count()"
        )
    )
    assert brief(problems) == [
        "E150b 15:67 the window has no field 'store_id': 'products' gives none"
    ]


@pytest.mark.parametrize(
    ("name", "message", "help_"),
    [
        (
            "product",
            "the window looks up records of unknown source 'product'",
            "did you mean 'products'?",
        ),
        (
            "analysis",
            "a window looks up records of a source, but 'analysis' is a transform",
            "the sources are: sales, products",
        ),
    ],
)
def test_only_sources_are_looked_up(name: str, message: str, help_: str) -> None:
    window = f"{{ source: {name}, group_by: [product_id] }}"
    windows, problems = windowed(sales() + PRODUCTS + analysis(window, "emit n = $window.count()"))
    assert brief(problems) == [f"E041 15:32 {message}"]
    assert problems[0].help == help_
    assert windows == {}


def test_the_current_record_has_no_place_among_those_looked_up() -> None:
    window = LOOKUP.replace(" }", ", frame: { rows: 3 preceding } }")
    cxl = "emit a = $window.lag(price, 1) emit b = $window.rank() emit c = $window.count()"
    _, problems = windowed(sales() + PRODUCTS + analysis(window, cxl))
    assert brief(problems) == [
        "E045 15:82 a frame needs the place of the current record in the window, "
        "but it looks up records of 'products'",
        "E045 16:19 '$window.lag' needs the place of the current record in the window, "
        "but it looks up records of 'products'",
        "E045 16:50 '$window.rank' needs the place of the current record in the window, "
        "but it looks up records of 'products'",
    ]


# Correlation

KEYED = "correlation_key: product_id,"
RELAXED = """\
- type: aggregate
  name: stores
  input: sales
  config: { group_by: [store_id], cxl: emit revenue = sum(revenue) }
"""


def test_a_window_does_not_cover_a_keyed_source() -> None:
    _, problems = windowed(sales(KEYED) + analysis("{ group_by: [store_id] }"))
    assert brief(problems) == [
        "E150 12:5 the window covers records as 'sales' reads them, "
        "but they stand or fall together by product_id"
    ]
    assert notes(problems[0]) == ["6:54 the correlation key of 'sales'"]


def test_nor_does_it_through_a_merge() -> None:
    merge = "- { type: merge, name: m, inputs: [sales, more] }\n"
    _, problems = windowed(
        sales(KEYED)
        + sales(KEYED, "more")
        + merge
        + analysis("{ group_by: [store_id] }", upstream="m")
    )
    assert [p.code for p in problems] == ["E150", "E150"]


def test_a_window_may_follow_a_transform() -> None:
    transform = "- { type: transform, name: t, input: sales, config: { cxl: 'filter true' } }\n"
    windows, problems = windowed(
        sales(KEYED) + transform + analysis("{ group_by: [store_id] }", upstream="t")
    )
    assert problems == []
    assert not windows["analysis"].buffered


def test_with_a_relaxed_aggregate_a_window_across_groups_is_buffered() -> None:
    windows, problems = windowed(sales(KEYED) + RELAXED + analysis("{ group_by: [store_id] }"))
    assert problems == []
    assert windows["analysis"].buffered


def test_a_window_inside_correlation_groups_is_not_buffered() -> None:
    _, problems = windowed(sales(KEYED) + RELAXED + analysis("{ group_by: [product_id] }"))
    assert [p.code for p in problems] == ["E150"]


def test_a_window_below_a_relaxed_aggregate_is_buffered() -> None:
    windows, problems = windowed(
        sales(KEYED) + RELAXED + analysis("{ group_by: [store_id] }", upstream="stores")
    )
    assert problems == []
    assert windows["analysis"].buffered
