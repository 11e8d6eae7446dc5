"""Values that whoever runs a pipeline gives to its constants, `$vars`, in place of defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date

from clinker.config.variables import Variable, fits
from clinker.diagnostics.suggest import did_you_mean
from clinker.plan.compile import Plan

_TRUTHS = {"true": True, "false": False}


def with_values(plan: Plan, values: Mapping[str, object]) -> Plan:
    """The plan with other values of constants; ValueError if it has no such constant."""
    declared = plan.registry.vars
    changed = {name: _with_value(declared, name, value) for name, value in values.items()}
    return replace(plan, registry=replace(plan.registry, vars={**declared, **changed}))


def with_texts(plan: Plan, texts: Mapping[str, str]) -> Plan:
    """The same with values as a command line has them, read by the types of the constants."""
    declared = plan.registry.vars
    values = {
        name: _read(text, declared[name].type) if name in declared else text
        for name, text in texts.items()
    }
    return with_values(plan, values)


def _with_value(declared: Mapping[str, Variable], name: str, value: object) -> Variable:
    if name not in declared:
        help = did_you_mean(name, declared) or "declare it under pipeline.vars"
        raise ValueError(f"the pipeline has no variable '$vars.{name}'; {help}")
    variable = declared[name]
    written = value.isoformat() if isinstance(value, date) else value
    if not fits(written, variable.type):
        raise ValueError(f"'$vars.{name}' is of type {variable.type}, which {value!r} is not")
    return variable.model_copy(update={"default": written})


def _read(text: str, kind: str) -> object:
    """What a text says if it says something of that type, else the text."""
    if kind == "bool":
        return _TRUTHS.get(text, text)
    try:
        return int(text) if kind == "int" else float(text) if kind == "float" else text
    except ValueError:
        return text
