"""Colours change nothing: each block of the documentation is there, character for character."""

from __future__ import annotations

import pytest
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, String
from website.highlighting import register

from tests.docs.pages import Block, blocks

register()


@pytest.mark.parametrize("block", blocks("cxl", "yaml"), ids=str)
def test_nothing_is_lost(block: Block) -> None:
    lexer = get_lexer_by_name("pipeline" if block.language == "yaml" else "cxl")
    assert "".join(text for _, text in lexer.get_tokens(block.text)) == block.text


def test_programs_have_colours_inside_yaml() -> None:
    text = 'config:\n  cxl: |\n    filter a  # why\n    emit b = "x"\n  path: b\n'
    found = list(get_lexer_by_name("pipeline").get_tokens(text))
    expected = [
        (Keyword, "filter"),
        (Name, "a"),
        (Comment, "# why"),
        (Keyword, "emit"),
        (String, '"x"'),
        (Name.Tag, "path"),
    ]
    assert [piece for piece in found if piece in expected] == expected
