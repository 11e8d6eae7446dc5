"""Locales that are not known."""

from __future__ import annotations

import pytest

from clinker.cxl.run.locales import UnknownLocale, date_names


@pytest.mark.parametrize(
    ("name", "meant"),
    [("xx_YY", None), ("de_XX", "de"), ("de_DEE", "de_DE"), ("../../x", None), ("root", None)],
)
def test_unknown_locales(name: str, meant: str | None) -> None:
    with pytest.raises(UnknownLocale) as raised:
        date_names(name)
    assert raised.value.meant == meant
