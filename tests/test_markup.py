"""Markup says what it was given, whatever that is."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinker.cxl.failure import printable
from clinker.markup import Markup, document, element, stylesheet, together

HOSTILE = "</script><script>alert(1)</script> & \"quotes\" 'too' ]]> <!-- ${x}"


@given(st.text())
def test_any_text_comes_back_from_content_and_attributes(text: str) -> None:
    made = element("p", text, element("b", text), title=text)
    read = ElementTree.fromstring(str(made))
    shown = "\n".join(map(printable, text.split("\n")))
    assert [read.text or "", read[0].text or ""] == [shown, shown]
    # A line end in an attribute is white space, as XML has it.
    assert read.attrib["title"] == shown.replace("\n", " ")


def test_texts_are_escaped_and_markup_is_not() -> None:
    made = element("p", HOSTILE, element("b", "x"), None, 3, ["<", ["&"]])
    assert "<script" not in str(made)
    assert str(made).endswith("<b>x</b>3&lt;&amp;</p>")


def test_control_characters_are_shown_by_their_codes() -> None:
    assert str(element("p", "a\0\x1b[2J\ud800\u202eb\nc")) == (
        "<p>a\\x00\\x1b[2J\\ud800\\u202eb\nc</p>"
    )


def test_attributes() -> None:
    made = element("a", class_="x y", aria_label='"', hidden=True, open=False, id=None, x=1.50, y=2)
    assert str(made) == '<a class="x y" aria-label="&quot;" hidden="" x="1.5" y="2"></a>'


def test_elements_without_an_end() -> None:
    assert str(together(element("br"), element("meta", charset="utf-8"))) == (
        '<br><meta charset="utf-8">'
    )


def test_a_document() -> None:
    assert str(document(element("body"), language="en")) == (
        '<!DOCTYPE html>\n<html lang="en"><body></body></html>\n'
    )


def test_a_style_sheet_cannot_end_its_element() -> None:
    assert stylesheet("a > b {}") == Markup("<style>a > b {}</style>")
    with pytest.raises(ValueError, match="style sheet"):
        stylesheet("</style>")
