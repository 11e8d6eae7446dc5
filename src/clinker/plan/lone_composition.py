"""A composition compiled by itself, called by a pipeline that gives it all it asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from clinker.config import Loaded, Pipeline, load_composition, load_pipeline
from clinker.config.composition import InputPort, Parameter, Signature
from clinker.config.variables import Variable
from clinker.diagnostics import Diagnostic
from clinker.plan.compile import Compiled, compile_loaded
from clinker.plan.files.file_schemas import MISSING, UNREADABLE
from clinker.plan.options import Options

CALL = "composition"
"""The name of the call, with which the names of the body's nodes begin."""

CALLER = "(caller)"
"""The name of the file of the pipeline, which nobody wrote."""
_CONSTANT = re.compile(r"\$vars\.([A-Za-z_][A-Za-z0-9_]*)")
_DEPENDING = ("E071", "E103", MISSING, UNREADABLE)
"""Findings about files that are looked for from the pipeline that calls, wherever that is."""

_SAMPLES: dict[str, object] = {"string": "", "path": "", "int": 0, "float": 0.0, "bool": False}
_VARIABLES: dict[str, object] = {
    **_SAMPLES,
    "date": "2024-01-01",
    "date_time": "2024-01-01T00:00:00",
}


def compile_composition(content: bytes, path: Path, options: Options) -> Compiled:
    """Compile a composition file; the plan is of no use, the draft and the findings are."""
    loaded = load_composition(content, str(path))
    if loaded.value is None:
        return Compiled(None, list(loaded.diagnostics))

    def read(other: Path) -> bytes:
        return content if other == path else options.read(other)

    caller = path.with_name(CALLER)
    text = json.dumps(_caller(loaded.value.signature, path))
    calling = _with_constants(load_pipeline(text.encode(), {}, str(caller)), loaded.text)
    compiled = compile_loaded(calling, caller, replace(options, base_dir=path.parent, read=read))
    findings = [*_of_body(compiled.diagnostics, str(caller))] or list(loaded.diagnostics)
    return replace(compiled, plan=None, diagnostics=findings)


def _of_body(findings: list[Diagnostic], caller: str) -> Iterator[Diagnostic]:
    for finding in findings:
        primary = finding.primary
        if primary and primary.location.source.name != caller and finding.code not in _DEPENDING:
            also = (label for label in finding.secondary if label.location.source.name != caller)
            yield replace(finding, secondary=tuple(also))


def _with_constants(calling: Loaded[Pipeline], body: str) -> Loaded[Pipeline]:
    """The caller with every constant that the body reads: which ones there are nobody knows."""
    if calling.value is None:
        return calling
    names = set(_CONSTANT.findall(body))
    unknown = {name: Variable.model_construct({"type"}, type="any") for name in sorted(names)}
    settings = calling.value.pipeline
    variables = settings.vars.model_copy(update={"static": unknown})
    settings = settings.model_copy(update={"vars": variables})
    return replace(calling, value=calling.value.model_copy(update={"pipeline": settings}))


def _caller(signature: Signature, path: Path) -> dict[str, Any]:
    """A pipeline that calls the composition."""
    sources = [_source(name, port) for name, port in signature.inputs.items()]
    call = {
        "type": "composition",
        "name": CALL,
        "use": path.name,
        "inputs": {name: source_of(name) for name in signature.inputs},
        "config": {name: _sample(p) for name, p in signature.config_schema.items()},
        "resources": dict.fromkeys(signature.resources_schema, "file"),
    }
    scoped = {
        scope: {
            name: {"type": variable.type, "default": _VARIABLES[variable.type]}
            for name, variable in getattr(signature.scoped_vars, scope).items()
        }
        for scope in ("pipeline", "source", "record")
    }
    return {"pipeline": {"name": CALL, "vars": scoped}, "nodes": [*sources, call]}


def source_of(port: str) -> str:
    """The source that feeds an input port."""
    return f"in_{port}"


def _source(name: str, port: InputPort) -> dict[str, Any]:
    source = {"type": "source", "name": source_of(name), "format": "json", "path": f"{name}.json"}
    if port.columns is None:
        return source
    columns = [
        {"name": column.name, "type": _written(str(column.type)), "required": column.required}
        for column in port.columns
    ]
    return {**source, "schema": columns}


def _written(type_: str) -> str:
    """A type as schemas write it."""
    return type_.lower().replace("datetime", "date_time")


def _sample(parameter: Parameter) -> object:
    """A value that the parameter takes."""
    if parameter.default is not None:
        return parameter.default
    if parameter.enum:
        return parameter.enum[0]
    if parameter.range:
        low = parameter.range[0]
        return low if parameter.type == "float" else int(-(-low // 1))
    return _SAMPLES[parameter.type]
