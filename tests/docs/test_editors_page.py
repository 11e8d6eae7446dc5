"""What the page about editors tells to write is right."""

from __future__ import annotations

import json
import re

from jsonschema import Draft202012Validator

from clinker.cli.clinker import command_parser
from clinker.config.interpolate import verbatim
from clinker.config.json_schema import KINDS
from clinker.config.tree import plain
from clinker.config.yaml import parse_yaml
from clinker.diagnostics import Source
from clinker.editing.kinds import FileKind
from tests.docs.pages import DOCS, blocks_of

PAGE = DOCS / "editors.md"


def test_settings_start_the_server() -> None:
    commands = []
    for block in blocks_of(PAGE):
        if block.language == "lua":
            found = re.search(r"cmd = \{(.*?)\}", block.text)
            assert found
            commands.append(re.findall(r'"(.*?)"', found[1]))
        if block.language == "json" and "glspc.server.command" in block.text:
            settings = json.loads(block.text)
            commands.append(
                [settings["glspc.server.command"], *settings["glspc.server.commandArguments"]]
            )
    assert len(commands) == 3
    for program, *arguments in commands:
        assert program == "clinker"
        assert command_parser().parse_args(arguments).command == "lsp"


def test_schemas_have_the_names_of_kinds() -> None:
    settings = [json.loads(block.text) for block in blocks_of(PAGE) if block.language == "json"]
    schemas = next(each["yaml.schemas"] for each in settings if "yaml.schemas" in each)
    kinds = {name.removesuffix(".schema.json") for name in schemas} - {"clinker"}
    assert kinds <= set(KINDS) == set(FileKind) - {FileKind.PROGRAM}


def test_the_example_keeps_to_the_schema_it_names() -> None:
    (block,) = [block for block in blocks_of(PAGE) if block.language == "yaml"]
    assert block.text.startswith("# yaml-language-server: $schema=clinker.schema.json\n")
    tree, _ = parse_yaml(verbatim(Source("", block.text)))
    assert tree is not None
    nodes = json.loads(json.dumps(plain(tree)))
    file = {"pipeline": {"name": "p"}, "nodes": nodes}
    Draft202012Validator(KINDS["pipeline"]()).validate(file)
