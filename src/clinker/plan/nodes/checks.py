"""The named checks of validations, as the CXL conditions they stand for.

They read the checked field as `value`, since the name of a column need not be a name in CXL.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from clinker.config.nodes.transform import Validation
from clinker.cxl.check import typed
from clinker.cxl.check.resolve import Context, Row
from clinker.cxl.check.typecheck import check_expression
from clinker.cxl.syntax.parser import parse_expression
from clinker.cxl.types import ANY, BOOL, Type
from clinker.diagnostics import Source

CHECKED_VALUE = "value"


def named_condition(validation: Validation, type_: Type) -> typed.Expr | None:
    """The condition that a value of this type keeps the rule; None if its arguments are wrong."""
    source = Source(f"check '{validation.rule}'", " and ".join(_conditions(validation)))
    parsed = parse_expression(source)
    for assumed in (type_, ANY):
        # A listed value of another type is never equal, which only `Any` may find out.
        context = Context(row=Row({CHECKED_VALUE: assumed}))
        condition = check_expression(parsed, context, BOOL, "the check").expression
        if condition:
            return condition
    return None


def _conditions(validation: Validation) -> Iterator[str]:
    args = validation.args
    match validation.named_check:
        case "not_empty":
            yield "not value.is_empty()"
        case "not_null":
            yield "not value.is_null()"
        case "matches":
            yield f"value.matches({_literal(args.get('pattern'))})"
        case "one_of":
            yield (
                "(" + " or ".join(f"value == {_literal(v)}" for v in args.get("values") or ()) + ")"
            )
        case "min":
            yield f"value >= {_literal(args.get('value'))}"
        case "max":
            yield f"value <= {_literal(args.get('value'))}"
        case "range" | "length":
            value = "value" if validation.named_check == "range" else "value.length()"
            if "min" in args:
                yield f"{value} >= {_literal(args['min'])}"
            if "max" in args:
                yield f"{value} <= {_literal(args['max'])}"


def _literal(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
