"""The abbreviations users may write, spelled out on the tree before it is validated.

So the models know one form of everything, and what was abbreviated still points at its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from clinker.config.errors import known_keys, models_in
from clinker.config.nodes import NODE_MODELS
from clinker.config.tree import Entry, MappingNode, Node, ScalarNode, SequenceNode
from clinker.diagnostics.suggest import closest

Rewrite: TypeAlias = Callable[[Node], Node]


def _values(**rewrites: Rewrite) -> Rewrite:
    """Rewrite the values of some keys."""

    def rewrite(node: Node) -> Node:
        if not isinstance(node, MappingNode) or not rewrites.keys() & node.entries.keys():
            return node
        return _mapping(
            node,
            {
                key: Entry(entry.key, rewrites[key](entry.value)) if key in rewrites else entry
                for key, entry in node.entries.items()
            },
        )

    return rewrite


def _every_value(change: Rewrite) -> Rewrite:
    def rewrite(node: Node) -> Node:
        if not isinstance(node, MappingNode):
            return node
        changed = {k: Entry(e.key, change(e.value)) for k, e in node.entries.items()}
        return _mapping(node, changed)

    return rewrite


def _every_item(change: Rewrite) -> Rewrite:
    def rewrite(node: Node) -> Node:
        if not isinstance(node, SequenceNode):
            return node
        return SequenceNode(node.origin, node.place, tuple(map(change, node.items)))

    return rewrite


def _named(key: str) -> Rewrite:
    """A bare word stands for a mapping with it under `key`."""

    def rewrite(node: Node) -> Node:
        if isinstance(node, ScalarNode) and isinstance(node.value, str):
            return _mapping(node, {key: _entry(key, node)})
        return node

    return rewrite


def _renamed(old: str, new: str) -> Rewrite:
    def rewrite(node: Node) -> Node:
        if not isinstance(node, MappingNode) or old not in node.entries or new in node.entries:
            return node
        return _mapping(
            node, {new if key == old else key: entry for key, entry in node.entries.items()}
        )

    return rewrite


def _in_turn(*rewrites: Rewrite) -> Rewrite:
    def rewrite(node: Node) -> Node:
        for change in rewrites:
            node = change(node)
        return node

    return rewrite


def _listed(node: Node) -> Node:
    """A single word is a list of one."""
    if isinstance(node, ScalarNode) and isinstance(node.value, str):
        return SequenceNode(node.origin, node.place, (node,))
    return node


def _columns(node: Node) -> Node:
    """`name: type` for each column."""
    if not isinstance(node, MappingNode):
        return node
    columns = tuple(_column(entry) for entry in node.entries.values())
    return SequenceNode(node.origin, node.place, columns)


def _column(entry: Entry) -> Node:
    value = entry.value
    name = {"name": _entry("name", entry.key)}
    if isinstance(value, MappingNode) and list(value.entries) != ["nullable"]:
        return _mapping(value, {**name, **value.entries})
    return _mapping(entry.key, {**name, "type": _entry("type", value)})


def _layout(node: Node) -> Node:
    """A path, or the layout itself."""
    if isinstance(node, MappingNode):
        return _mapping(node, {"inline": _entry("inline", node)})
    return _named("path")(node)


def _correlation_keys_kept(node: Node) -> Node:
    if isinstance(node, MappingNode) and "named" in node.entries:
        mode = _scalar("named", node.entries["named"].key)
        return _mapping(node, {"mode": _entry("mode", mode), **node.entries})
    return _named("mode")(node)


def _metadata(node: Node) -> Node:
    if isinstance(node, SequenceNode):
        mode = _entry("mode", _scalar("listed", node))
        return _mapping(node, {"mode": mode, "keys": _entry("keys", node)})
    return _named("mode")(node)


def _variable(node: Node) -> Node:
    """A bare value declares a variable of its own type."""
    if not isinstance(node, ScalarNode):
        return node
    kinds = {bool: "bool", int: "int", float: "float", str: "string"}
    kind = kinds.get(type(node.value))
    if kind is None:
        return node
    declared = _entry("type", _scalar(kind, node))
    return _mapping(node, {"type": declared, "default": _entry("default", node)})


_SCOPES = ("pipeline", "source", "record")


def _variables(node: Node) -> Node:
    """Constants stand beside the blocks of the three scopes."""
    if not isinstance(node, MappingNode):
        return node
    static: dict[str, Entry] = {}
    scopes: dict[str, Entry] = {}
    for key, entry in node.entries.items():
        if key in _SCOPES and _is_block(entry.value):
            scopes[key] = Entry(entry.key, _every_value(_variable)(entry.value))
        else:
            static[key] = Entry(entry.key, _variable(entry.value))
    constants = _entry("static", _mapping(node, static))
    return _mapping(node, {"static": constants, **scopes})


def _is_block(node: Node) -> bool:
    """Whether this declares variables; a variable may itself be called `source`."""
    if not isinstance(node, MappingNode):
        return False
    return not isinstance(node.get("type"), ScalarNode) or not (
        node.entries.keys() <= {"type", "default", "description"}
    )


_SORTED = _every_item(_named("field"))

_SOURCE = _in_turn(
    _renamed("format", "type"),
    _values(
        schema=_columns,
        on_unmapped=_named("mode"),
        sort_order=_SORTED,
        correlation_key=_listed,
        transport=_named("kind"),
        format_schema=_layout,
    ),
)
_OUTPUT = _in_turn(
    _renamed("format", "type"),
    _values(sort_order=_SORTED, schema=_layout, include_metadata=_metadata),
)
_CONFIG: dict[str, Rewrite] = {
    "source": _SOURCE,
    "output": _OUTPUT,
    "transform": _values(analytic_window=_values(sort_by=_SORTED)),
    "route": _renamed("routes", "conditions"),
    "combine": _values(propagate_ck=_correlation_keys_kept),
}


def _node(node: Node) -> Node:
    kind = node.get("type") if isinstance(node, MappingNode) else None
    if not isinstance(node, MappingNode) or not isinstance(kind, ScalarNode):
        return node
    model = NODE_MODELS.get(kind.value) if isinstance(kind.value, str) else None
    if model is None or kind.value == "composition":
        return node
    if _is_empty(node.get("config")):
        node = _mapping(node, {k: entry for k, entry in node.entries.items() if k != "config"})
        node = _with_config(node, list(known_keys(model)), _config_keys(model))
    return _values(config=_CONFIG.get(kind.value, lambda config: config))(node)


def _is_empty(node: Node | None) -> bool:
    return node is None or (isinstance(node, ScalarNode) and node.value is None)


def _with_config(node: MappingNode, header: list[str], config: set[str]) -> MappingNode:
    """A node without a `config` block has its settings beside its name."""

    def is_setting(key: str) -> bool:
        return key not in header and (key in config or closest(key, header) is None)

    settings = {key: entry for key, entry in node.entries.items() if is_setting(key)}
    if not settings:
        return node
    others = {key: entry for key, entry in node.entries.items() if key not in settings}
    return _mapping(node, {**others, "config": _entry("config", _mapping(node, settings))})


def _config_keys(model: Any) -> set[str]:
    members = models_in(model.model_fields["config"].annotation)
    return {key for member in members for key in known_keys(member)} | {"format", "routes"}


_NODES = _every_item(_node)

spell_out_pipeline: Rewrite = _values(
    pipeline=_values(vars=_variables),
    nodes=_NODES,
    error_handling=_values(correlation_key=_listed),
)


def spell_out_columns(node: Node) -> Node:
    """A file that is nothing but columns: a list, `name: type` pairs, or either under `schema`."""
    if isinstance(node, MappingNode) and list(node.entries) == ["schema"]:
        node = node.entries["schema"].value
    return _mapping(node, {"schema": _entry("schema", _columns(node))})


def spell_out_composition(node: Node) -> Node:
    if isinstance(node, MappingNode) and "composition" in node.entries:
        header = node.entries["composition"]
        if "_compose" not in node.entries:
            others = {k: e for k, e in node.entries.items() if k != "composition"}
            signature = Entry(header.key, _one_port_signature(header.value))
            node = _mapping(node, {"_compose": signature, **others})
    ports = _every_value(_values(schema=_columns))
    scopes = _every_value(_every_value(_named("type")))
    compose = _values(inputs=ports, outputs=_every_value(_named("ref")), scoped_vars=scopes)
    return _values(_compose=compose, nodes=_NODES)(node)


def _one_port_signature(header: Node) -> Node:
    """`requires`, `produces` and `params` describe one input, one output and the parameters."""
    if not isinstance(header, MappingNode):
        return header
    entries: dict[str, Entry] = {}
    for key, entry in header.entries.items():
        if key == "requires":
            needed = _entry("required", ScalarNode(entry.key.origin, entry.key.place, True))
            schema = Entry(entry.key, entry.value)
            port = _mapping(entry.value, {"schema": schema, "required": needed})
            ports = _mapping(entry.value, {"input": _entry("input", port)})
            entries["inputs"] = Entry(entry.key, ports)
        elif key == "produces":
            port = _mapping(entry.value, {"schema": Entry(entry.key, _columns(entry.value))})
            ports = _mapping(entry.value, {"output": _entry("output", port)})
            entries["outputs"] = Entry(entry.key, ports)
        elif key == "params":
            entries["config_schema"] = Entry(entry.key, _parameters(entry.value))
        else:
            entries[key] = entry
    return _mapping(header, entries)


def _parameters(node: Node) -> Node:
    """A list of parameters, each with its name inside."""
    if not isinstance(node, SequenceNode):
        return node
    entries: dict[str, Entry] = {}
    for item in node.items:
        name = item.get("name") if isinstance(item, MappingNode) else None
        if not isinstance(item, MappingNode) or not isinstance(name, ScalarNode):
            return node
        rest = {k: e for k, e in item.entries.items() if k != "name"}
        entries[str(name.value)] = Entry(name, _mapping(item, rest))
    return _mapping(node, entries)


spell_out_channel: Rewrite = _values(
    vars=_values(
        static=_every_value(_variable),
        pipeline=_every_value(_variable),
        record=_every_value(_variable),
        source=_every_value(_every_value(_variable)),
    )
)


def _given(node: Node) -> Node:
    """A list of records, or the path of a file."""
    if isinstance(node, SequenceNode):
        return _mapping(node, {"records": _entry("records", node)})
    return _named("file")(node)


spell_out_cases: Rewrite = _values(cases=_every_item(_values(given=_every_value(_given))))


def _mapping(like: Node, entries: dict[str, Entry]) -> MappingNode:
    return MappingNode(like.origin, like.place, entries)


def _scalar(value: str, like: Node) -> ScalarNode:
    return ScalarNode(like.origin, like.place, value)


def _entry(key: str, value: Node) -> Entry:
    return Entry(_scalar(key, value), value)
