"""Where something fails, as SQL: texts that are true there, and false or null elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from clinker.cxl.sql.operand import Operand


def either(*fails: str | None) -> str | None:
    """Where any of these fails; None never does."""
    texts = list(dict.fromkeys(text for text in fails if text))
    if len(texts) <= 1:
        return texts[0] if texts else None
    return "(" + " OR ".join(texts) + ")"


def both(*conditions: str | None) -> str | None:
    """Where all of these hold; None holds everywhere."""
    texts = list(dict.fromkeys(text for text in conditions if text))
    if len(texts) <= 1:
        return texts[0] if texts else None
    return "(" + " AND ".join(texts) + ")"


def present(operand: Operand) -> str | None:
    """Where an operand is not null, unless that is everywhere."""
    if operand.is_literal or not operand.type.may_be_null:
        return None
    return f"{operand.text} IS NOT NULL"


def stepwise(steps: Sequence[tuple[str, str | None]], otherwise: str | None = None) -> str | None:
    """Where the first condition that holds comes with a failure; `otherwise` where none holds."""
    needed = list(steps)
    while needed and needed[-1][1] == otherwise:
        needed.pop()
    if not needed:
        return otherwise
    if len(needed) == 1 and needed[0][1] == "TRUE":
        return either(needed[0][0], otherwise)
    cases = " ".join(f"WHEN {condition} THEN {fails or 'FALSE'}" for condition, fails in needed)
    return f"CASE {cases} ELSE {otherwise or 'FALSE'} END"
