"""CSV in other encodings than UTF-8: the same records, wherever the file is cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.formats.csv.dialect import CsvDialect
from tests.formats.reading import WHOLE, read, spec_of, values


@pytest.mark.parametrize(
    ("encoding", "word"),
    [
        ("cp1252", "äöé€"),
        ("iso-8859-15", "äöé€"),
        ("cp037", "äöé"),
        ("utf-8-sig", "äöé€"),
        ("utf-16", "äöé€𝄞"),
        ("utf-16-le", "äöé€𝄞"),
        ("utf-32", "äöé€𝄞"),
        # The second bytes of some of these are those of `\` and `|`.
        ("shift_jis", "ソ表能"),
        ("gb18030", "汉字"),
    ],
)
def test_quoted_newlines_whatever_the_splits(tmp_path: Path, encoding: str, word: str) -> None:
    lines = [f'{number},"{word}\n""{number}"""\n' for number in range(1, 40)]
    content = "".join(["id,t\n", *lines]).encode(encoding)
    spec = spec_of(CsvDialect(encoding=encoding), {"id": "int", "t": "string"})
    for split_bytes in (WHOLE, 200, 37):
        assert values(read(tmp_path, spec, content, split_bytes=split_bytes)) == [
            {"id": number, "t": f'{word}\n"{number}"'} for number in range(1, 40)
        ]
