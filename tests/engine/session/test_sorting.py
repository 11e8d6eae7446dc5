"""Order as the last step of a frame."""

from __future__ import annotations

from clinker.engine.flow.frame import Frame, Input, SortBy
from clinker.engine.session.session import Session
from clinker.engine.session.sorting import arrange, sorted_last


def never(_: Session) -> object:
    raise AssertionError


RECORDS = Input(("a", "b"), "records", never)  # type: ignore[arg-type]
BY_A = SortBy("`a`", descending=True, nulls_first=False)


def steps(frame: Frame) -> list[str]:
    """A frame from its first step to its last."""
    below = frame.inputs[:1]
    return [*(steps(below[0]) if below else []), frame.sql()]


def test_what_is_in_no_order_stays_as_it_is() -> None:
    frame = RECORDS.where("`a` > 1").select([("c", "`a` + 1")])
    assert sorted_last(frame) is frame


def test_a_sort_is_done_last_and_what_it_needs_comes_along() -> None:
    frame = RECORDS.sort([BY_A]).where("`b` > 1").select([("c", "upper(`b`)")])
    assert steps(sorted_last(frame)) == [
        "FROM records",
        "WHERE `b` > 1",
        "SELECT upper(`b`) AS `c`, `a` AS `$sort0`",
        "ORDER BY `$sort0` DESC NULLS LAST",
    ]


def test_what_is_selected_anyway_comes_along_by_its_new_name() -> None:
    frame = RECORDS.sort([BY_A, SortBy("`b`")]).select([("x", "`a`")])
    assert steps(sorted_last(frame))[1:] == [
        "SELECT `a` AS `x`, `b` AS `$sort0`",
        "ORDER BY `x` DESC NULLS LAST, `$sort0` ASC NULLS FIRST",
    ]


def test_a_cut_is_an_order_as_well() -> None:
    frame = RECORDS.cut("`a` DIV 2", 3, ["`a`", "`b`"]).extend([("c", "1")])
    assert steps(sorted_last(frame)) == [
        "FROM records",
        "SELECT *, 1 AS `c`",
        "ORDER BY `a` ASC NULLS FIRST, `b` ASC NULLS FIRST",
    ]


def test_only_the_last_of_several_orders_counts() -> None:
    frame = RECORDS.sort([BY_A]).sort([SortBy("`b`")])
    assert steps(sorted_last(frame)) == ["FROM records", "ORDER BY `b` ASC NULLS FIRST"]


def test_numbers_follow_the_order() -> None:
    frame = RECORDS.sort([BY_A]).number("n")
    assert "row_number() OVER (ORDER BY `a` DESC NULLS LAST)" in steps(sorted_last(frame))[1]
    assert steps(RECORDS.number("n")) == steps(arrange(RECORDS.number("n")).frame)


def test_numbers_follow_the_order_in_groups_as_well() -> None:
    frame = RECORDS.sort([BY_A]).number("n").group([], [("first", "min(`n`)")])
    below = arrange(frame).frame.inputs[0]
    assert "row_number() OVER (ORDER BY `a` DESC NULLS LAST)" in below.sql()


def test_a_function_that_goes_through_records_one_by_one_gets_them_in_their_order() -> None:
    frame = RECORDS.cut("0", 1, ["`a`"]).run_in_arrow(iter, {"c": "INT"}, "counting")
    assert [type(step).__name__ for step in chain(sorted_last(frame))] == [
        "Input",
        "Cut",
        "RunInArrow",
        "Sort",
    ]


def chain(frame: Frame) -> list[Frame]:
    return [*(chain(frame.inputs[0]) if frame.inputs else []), frame]


def test_any_other_function_may_get_them_in_any_order() -> None:
    frame = RECORDS.sort([BY_A]).run_in_arrow(iter, {"c": "INT"}, "computing")
    assert [type(step).__name__ for step in chain(sorted_last(frame))] == [
        "Input",
        "RunInArrow",
        "Sort",
    ]
