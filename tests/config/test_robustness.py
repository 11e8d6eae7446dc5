"""Whatever is in a file, its author gets diagnostics and never a Python error."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinker.config import (
    Loaded,
    load_channel,
    load_composition,
    load_pipeline,
    load_schema_file,
    load_workspace,
)
from clinker.diagnostics.render import render_text
from tests.config.loading import brief

PIPELINES = [p.read_bytes() for p in sorted((Path(__file__).parent / "data").glob("*.yaml"))]

PIECES = st.one_of(
    st.binary(max_size=4),
    st.text(max_size=4).map(str.encode),
    st.sampled_from(
        "\t|\n  |: |- |[|{|]|}|'|\"|&a |*a|!!int |!x |---\n|...\n|%YAML 1.1\n|? |${X}|${X|$$|<<: |"
        '2-\n|>+\n|"\\x|.nan|1e999|99999999999999999999|0x|#|,|~|null|\\|@|`|\ufeff|\u2028'.split(
            "|"
        )
    ).map(str.encode),
    st.just(b"|"),
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    content = draw(st.sampled_from(PIPELINES))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(len(content), start + 30)))
        content = content[:start] + draw(PIECES) + content[end:]
    return content[: draw(st.integers(0, len(content)))] if draw(st.booleans()) else content


def check(loaded: Loaded[Any]) -> None:
    failed = any(diagnostic.is_error for diagnostic in loaded.diagnostics)
    assert failed == (loaded.value is None)
    brief(loaded.diagnostics)
    render_text(loaded.diagnostics).encode()


@settings(max_examples=150)
@given(damaged())
def test_damaged_pipelines(content: bytes) -> None:
    check(load_pipeline(content, {"X": "a: ["}))


@settings(max_examples=100)
@given(st.binary(max_size=200))
def test_binary_junk(content: bytes) -> None:
    check(load_pipeline(content, {}))
    check(load_workspace(content))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["a", "csv", "int"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "type", "a", "nullable"]), inner, max_size=3)
    ),
    max_leaves=5,
)
KEYS = (
    "schema on_unmapped sort_order correlation_key transport format_schema options files envelope "
    "watermark array_paths schema_overrides path paths cxl analytic_window validations log "
    "declares conditions routes default where propagate_ck match drive split mapping "
    "include_metadata group_by time_window set scope inputs input use config type name format "
    "description _notes"
).split()


def _yaml(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_yaml(v)}" for k, v in value.items()) + "}"
    words = {None: "null", True: "true", False: "false"}
    if value is None or isinstance(value, bool):
        return words[value]
    return str(value)


@settings(max_examples=150)
@given(
    st.sampled_from(
        "source transform aggregate route merge combine output composition state".split()
    ),
    st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5),
    st.booleans(),
)
def test_any_value_under_any_key(kind: str, keys: dict[str, object], block: bool) -> None:
    body = {"type": kind, "name": "n", **({"config": keys} if block else keys)}
    text = f"pipeline: {{ name: p }}\nnodes: [{_yaml(body)}]\n"
    check(load_pipeline(text.encode(), {}))


@settings(max_examples=100)
@given(
    st.dictionaries(
        st.sampled_from(
            "channel config vars resources _compose composition nodes fields records defs "
            "discriminator structure format".split()
        ),
        st.dictionaries(
            st.sampled_from(
                "name target static pipeline source record default fixed inputs outputs requires "
                "produces params config_schema scoped_vars resources_schema".split()
            ),
            VALUES,
            max_size=4,
        )
        | VALUES,
        max_size=4,
    )
)
def test_any_value_in_the_other_files(keys: dict[str, object]) -> None:
    content = _yaml(keys).encode()
    check(load_channel(content))
    check(load_composition(content))
    check(load_schema_file(content))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"pipeline:\n  name: caf\xe9\n", "E000 2:12 the file is not UTF-8"),
        (b"\xff\xfep\x00", "E000 1:1 the file is not UTF-8"),
        (b" " * (2 * 2**20 + 1), "E009 1:1 the file is larger than 2 MiB"),
        (b"- " * 400, "E009 1:513 nested more than 256 levels deep"),
        (b"{a: " * 300, "E009"),
    ],
)
def test_limits(content: bytes, expected: str) -> None:
    (line,) = brief(load_pipeline(content, {}).diagnostics)
    assert line.startswith(expected)


@pytest.mark.parametrize(
    "load", [load_channel, load_composition, load_schema_file], ids=lambda f: f.__name__
)
def test_deep_but_allowed_nesting(load: Callable[[bytes], Loaded[Any]]) -> None:
    check(load(b"_notes: " + b"[" * 254 + b"]" * 254))


def test_deep_toml() -> None:
    check(load_workspace(b"a = " + b"[" * 100_000))


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    loaded = load_pipeline(b"\xef\xbb\xbfpipelin: 1\n", {})
    assert brief(loaded.diagnostics)[0] == "E005 1:1 unknown key 'pipelin'"


@pytest.mark.parametrize(
    "piece", ["!", "(", "-", "[", "{", "not ", "- ", "a: ", "&a ", "*a ", "'", "${X}", "!a "]
)
def test_two_megabytes_of_the_same_are_read_in_no_time(piece: str) -> None:
    began = time.process_time()
    loaded = load_pipeline((piece * (2_000_000 // len(piece))).encode(), {})
    assert loaded.diagnostics
    render_text(loaded.diagnostics)
    assert time.process_time() - began < 30
