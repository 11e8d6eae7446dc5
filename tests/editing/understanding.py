"""Files as an editor has them open, for tests of what is answered about them."""

from __future__ import annotations

from pathlib import Path

from clinker.diagnostics import errors
from clinker.editing.checking import NO_DIRECTORY
from clinker.editing.desk import Desk, Sheet
from clinker.editing.formatting import apply
from clinker.plan.options import Options

SOURCES = """\
pipeline: { name: p }
nodes:
  - type: source
    name: orders
    config:
      type: csv
      path: orders.csv
      correlation_key: region
      schema:
        - { name: id, type: int }
        - { name: amount, type: float }
        - { name: region, type: string }
  - type: source
    name: returns
    config:
      type: csv
      path: returns.csv
      correlation_key: region
      schema: { id: int, amount: float, region: string }
"""
OUTPUT = """
  - { type: output, name: out, input: last, config: { type: csv, path: out.csv } }
"""


class Open:
    """One open file."""

    def __init__(self, text: str, path: Path = Path("/nowhere/p.yaml")) -> None:
        self.desk = Desk(Options(NO_DIRECTORY))
        self.sheet: Sheet = self.desk.open(path, text)
        self.findings = self.desk.diagnose(self.sheet)

    @property
    def text(self) -> str:
        return self.sheet.text

    def at(self, marked: str) -> int:
        before, _, after = marked.partition("|")
        assert self.text.count(before + after) == 1, marked
        return self.text.index(before + after) + len(before)

    def rename(self, marked: str, name: str) -> str:
        return apply(self.text, self.desk.rename(self.sheet, self.at(marked), name))

    def hover(self, marked: str) -> str:
        told = self.desk.hover(self.sheet, self.at(marked))
        return told.text if told else ""

    def definition(self, marked: str) -> list[str]:
        places = self.desk.definitions(self.sheet, self.at(marked))
        return [
            f"{place.text.count(chr(10), 0, place.span.start) + 1}:"
            f"{place.text[place.span.start : place.span.end]}"
            for place in places
        ]

    def complete(self, marked: str) -> set[str]:
        """What is offered once the stretch around `|` is written into the file."""
        suggestions = self.desk.complete(self.sheet, self.at(marked))
        return {suggestion.label for suggestion in suggestions}


def understand(last: str) -> Open:
    """A pipeline of two sources and what follows, right and with an output."""
    opened = Open(SOURCES + last.strip("\n") + OUTPUT)
    assert not [*errors(opened.findings)], opened.findings
    return opened
