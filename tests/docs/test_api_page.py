"""The page about the Python interface is what the package says of itself."""

from __future__ import annotations

from tests.docs import generate_api


def test_the_page_is_up_to_date() -> None:
    shown = generate_api.PAGE.read_text("utf-8")
    assert shown == generate_api.page(), "run python -m tests.docs.generate_api"


def test_fields_and_methods_are_found() -> None:
    page = generate_api.page()
    assert "| `warnings` | [`list[Diagnostic]`](#clinkerdiagnostic) | " in page
    assert "| `execution_id` | `str` | " in page  # of the base class of a report
    assert 'Plan.explain(form: str = "text") -> str' in page.replace("'", '"')
