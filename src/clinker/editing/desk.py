"""The files that somebody edits: their texts as they are now, and what was last understood."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from clinker.config.tree import Node
from clinker.diagnostics import Diagnostic, Location, Source, Span
from clinker.editing.checking import path_of, whole
from clinker.editing.completion import complete
from clinker.editing.formatting import Edit, format_source
from clinker.editing.hover import Hover, hover
from clinker.editing.kinds import FileKind, kind_of
from clinker.editing.model import Analysis, analyse
from clinker.editing.navigation import Atlas
from clinker.editing.positions import Shift
from clinker.editing.renaming import CannotRename, rename, renameable
from clinker.editing.suggestion import Suggestion
from clinker.editing.symbols import Symbol, outline
from clinker.frozen import frozen
from clinker.plain_files import read_plain
from clinker.plan.options import Options
from clinker.stores.urls import ObjectUrl


@frozen(eq=False)
class Understood:
    """A text and what was made of it."""

    text: str
    analysis: Analysis


class Sheet:
    """A file that is open."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.understood: Understood | None = None
        """What was last made of it; its text may be older."""
        self.atlas: Atlas | None = None
        """The last text that could be read, be its CXL right or wrong."""
        self._kind: FileKind | None = None

    @property
    def kind(self) -> FileKind | None:
        """What it is; what it was, if a text that is half written does not tell."""
        self._kind = kind_of(self.path, self.text) or self._kind
        return self._kind

    @property
    def is_current(self) -> bool:
        return self.understood is not None and self.understood.text == self.text

    @property
    def shift(self) -> Shift | None:
        """The way between the text and the last one that could be read."""
        return Shift(self.atlas.model.text, self.text) if self.atlas else None

    def keep(self, text: str, analysis: Analysis, options: Options) -> None:
        """Take over what was made of a text."""
        self.understood = Understood(text, analysis)
        if analysis.model:
            self.atlas = Atlas(analysis.model, options)


@frozen(eq=False)
class Place:
    """A stretch of some file."""

    path: Path
    span: Span
    text: str
    """The text of that file."""


def _asked_once(read: Callable[[ObjectUrl], bytes]) -> Callable[[ObjectUrl], bytes]:
    """Stores are far away: none is asked again with every key that is pressed."""
    answers: dict[ObjectUrl, bytes | OSError] = {}

    def ask(url: ObjectUrl) -> bytes:
        if url not in answers:
            try:
                answers[url] = read(url)
            except OSError as problem:
                answers[url] = problem
        answer = answers[url]
        if isinstance(answer, OSError):
            raise answer
        return answer

    return ask


class Desk:
    """All files that are open; what they refer to is read as it is written here."""

    def __init__(self, options: Options) -> None:
        self.sheets: dict[Path, Sheet] = {}
        self._options = replace(options, read_object=_asked_once(options.read_object))

    def open(self, path: Path, text: str) -> Sheet:
        """A file whose text is now this."""
        sheet = self.sheets.setdefault(path, Sheet(path, text))
        sheet.text = text
        return sheet

    def close(self, path: Path) -> None:
        self.sheets.pop(path, None)

    def options(self) -> Options:
        """The options with which texts that are not saved are read as well."""
        texts = {path: sheet.text for path, sheet in self.sheets.items()}

        def read(path: Path) -> bytes:
            text = texts.get(whole(path))
            return read_plain(path) if text is None else text.encode("utf-8", "replace")

        return replace(self._options, read=read)

    # Answers

    def diagnose(self, sheet: Sheet) -> list[Diagnostic]:
        """Look at a file anew; what there is to say about it."""
        kind, text, options = sheet.kind, sheet.text, self.options()
        if kind is None:
            return []
        analysis = analyse(sheet.path, text, kind, options)
        sheet.keep(text, analysis, options)
        return analysis.diagnostics

    def complete(self, sheet: Sheet, offset: int, in_cxl: bool = True) -> list[Suggestion]:
        model = sheet.atlas.model if sheet.atlas else None
        return complete(sheet.kind, sheet.text, offset, model, in_cxl) if sheet.kind else []

    def hover(self, sheet: Sheet, offset: int) -> Hover | None:
        at = self._old(sheet, offset)
        told = hover(sheet.atlas, at) if sheet.atlas and at is not None else None
        span = sheet.shift.to_new(told.span) if told and sheet.shift else None
        return Hover(told.text, span) if told and span else None

    def definitions(self, sheet: Sheet, offset: int) -> list[Place]:
        at = self._old(sheet, offset)
        if sheet.atlas is None or at is None:
            return []
        return list(self._places(sheet, sheet.atlas.definitions(at)))

    def references(self, sheet: Sheet, offset: int) -> list[Place]:
        at = self._old(sheet, offset)
        if sheet.atlas is None or at is None:
            return []
        return list(self._places(sheet, sheet.atlas.references(at)))

    def renameable(self, sheet: Sheet, offset: int) -> Span | None:
        at = self._old(sheet, offset)
        found = renameable(sheet.atlas, at) if sheet.atlas and at is not None else None
        return sheet.shift.to_new(found.span) if found and sheet.shift else None

    def rename(self, sheet: Sheet, offset: int, name: str) -> list[Edit]:
        if not sheet.is_current:
            self.diagnose(sheet)
        if sheet.understood is None or sheet.atlas is None:
            raise CannotRename("there is no column or node here")
        return rename(sheet.atlas, sheet.understood.analysis, offset, name)

    def format(self, sheet: Sheet) -> list[Edit]:
        if sheet.kind is None:
            return []
        source = Source(str(sheet.path), sheet.text)
        return [*format_source(source, sheet.kind, self._tree(sheet)).edits]

    def _tree(self, sheet: Sheet) -> Node | None:
        """The text as it was parsed, unless it has changed or the environment was put into it."""
        model = sheet.atlas.model if sheet.atlas else None
        is_same = model is not None and model.text == sheet.text and "$" not in sheet.text
        return model.tree if model and is_same else None

    def outline(self, sheet: Sheet) -> list[Symbol]:
        return outline(sheet.atlas.model) if sheet.atlas else []

    def _old(self, sheet: Sheet, offset: int) -> int | None:
        return sheet.shift.to_old(offset) if sheet.shift else None

    def _places(self, sheet: Sheet, locations: list[Location]) -> Iterator[Place]:
        """Where locations are now; what has changed since is left out."""
        files: dict[Source, tuple[Path, Shift]] = {}
        for location in locations:
            source = location.source
            if source not in files:
                path = self.file_of(sheet, location)
                other = self.sheets.get(path)
                files[source] = path, Shift(source.text, other.text if other else source.text)
            path, shift = files[source]
            if span := shift.to_new(location.span):
                yield Place(path, span, shift.new)

    def file_of(self, sheet: Sheet, location: Location) -> Path:
        return whole(path_of(location.source.name, sheet.path, sheet.path.parent))
