"""The workspace file."""

from __future__ import annotations

import pytest

from clinker.config import load_workspace
from tests.config.loading import brief

WORKSPACE = """\
# where things go
[storage.spill]
dir = "/var/clinker/spill"
disk_cap_bytes = "10GB" # decimal
compress = "off"

[storage.staging]
enabled = true
dir = "/var/clinker/staging"
patterns = [
  "/mnt/nfs/**",
]
"""


def test_workspace() -> None:
    workspace = load_workspace(WORKSPACE.encode()).value
    assert workspace
    spill, staging = workspace.storage.spill, workspace.storage.staging
    assert (spill.disk_cap_bytes, spill.compress) == (10**10, "off")
    assert staging.patterns == ("/mnt/nfs/**",)
    assert staging.verify == "blake3"
    assert spill.at("disk_cap_bytes").start == (4, 18)


def test_an_empty_workspace_has_the_defaults() -> None:
    workspace = load_workspace(b"").value
    assert workspace
    assert workspace.storage.spill.compress == "auto"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"10GB"', '"10 potatoes"', ["E215 4:18 expected a size, found string '10 potatoes'"]),
        ('"off"', '"of"', ["E007 5:12 unknown compress 'of'"]),
        ("compress", "compres", ["E005 5:1 unknown key 'compres'"]),
        ("[storage.staging]", "[storage.stagin]", ["E005 7:2 unknown key 'stagin'"]),
        ("true", '"yes"', ["E007 8:11 expected true or false, found string 'yes'"]),
        ("enabled = true\ndir", "enabled = true\ncleanup", None),
        (
            'dir = "/var/clinker/staging"\n',
            "",
            ["E033 8:11 staging is enabled but has no directory"],
        ),
        ('"off"', '"off', ["E000 5:16 this is not TOML: illegal character '\\n'"]),
        ('"off"', "2024-01-01", ["E007 5:12 expected a word, found 2024-01-01"]),
        (
            "[storage.spill]",
            "[channels]\nx = 1\n[storage.spill]",
            ["E005 3:1 unknown key 'x'"],
        ),
        ("[storage.spill]", "[workspace]\nname = 'w'\ndescription = 'd'\n[storage.spill]", []),
        ("[storage.spill]", "[channels]\ndir = 'c'\n[storage.spill]", []),
        (
            "[storage.spill]",
            "[channels]\ndefault = 'x'\n[storage.spill]",
            ["W013 3:1 'default' has no effect: a run without --channel has no channel"],
        ),
        ("[storage.spill]", "[workspac]\n[storage.spill]", ["W005 2:2 unknown table 'workspac'"]),
        ("[storage.spill]", "[tool.x]\na = 1\n[storage.spill]", ["W005 2:2 unknown table 'tool'"]),
    ],
)
def test_workspace_diagnostics(old: str, new: str, expected: list[str] | None) -> None:
    found = brief(load_workspace(WORKSPACE.replace(old, new).encode()).diagnostics)
    assert found == expected if expected is not None else found
