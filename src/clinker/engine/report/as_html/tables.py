"""Tables that narrow screens and screen readers can cope with."""

from __future__ import annotations

from collections.abc import Sequence

from clinker.frozen import frozen
from clinker.markup import Content, Markup, element


@frozen
class Column:
    title: str
    is_number: bool = False


def table(
    caption: str, columns: Sequence[Column | str], rows: Sequence[Sequence[Content]]
) -> Markup:
    """A table whose first column names its rows; where there is no room it can be moved."""
    heads = [Column(each) if isinstance(each, str) else each for each in columns]
    return element(
        "div",
        element(
            "table",
            element("caption", caption),
            element("thead", element("tr", (_head(each) for each in heads))),
            element("tbody", (_row(heads, row) for row in rows)),
        ),
        class_="scrolling",
        role="region",
        aria_label=caption,
        tabindex=0,
    )


def _head(column: Column) -> Markup:
    return element("th", column.title, scope="col", class_=_class(column))


def _row(heads: Sequence[Column], cells: Sequence[Content]) -> Markup:
    first, *rest = zip(heads, cells, strict=True)
    return element(
        "tr",
        element("th", first[1], scope="row", class_=_class(first[0])),
        (element("td", cell, class_=_class(head)) for head, cell in rest),
    )


def _class(column: Column) -> str | None:
    return "number" if column.is_number else None
