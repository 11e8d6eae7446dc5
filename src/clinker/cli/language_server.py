"""The language server: a thin layer between the protocol and `clinker.editing`.

Requests are answered at once from what was last understood of a file. Understanding it anew takes
longer, so that happens in a thread of its own, once whoever types pauses.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from clinker import __version__
from clinker.cli.command import internal_error
from clinker.cli.protocol import as_edit, as_item, as_range, as_symbol, path_of, uri_of
from clinker.diagnostics import Diagnostic, Label, Severity, Span
from clinker.editing import schema
from clinker.editing.desk import Desk, Place, Sheet
from clinker.editing.formatting import Edit
from clinker.editing.kinds import FileKind
from clinker.editing.positions import UTF_16, Lines, lines_of
from clinker.editing.renaming import CannotRename
from clinker.plan.options import Options

PAUSE = 0.15
"""Seconds without a change after which a file is looked at anew."""
_REQUEST_FAILED = -32803
_SOURCE = "clinker"

_Pointing: TypeAlias = (
    types.CompletionParams | types.HoverParams | types.DefinitionParams | types.ReferenceParams
)


class Server(LanguageServer):
    """The server of one editor."""

    def __init__(self, options: Options) -> None:
        super().__init__("clinker", __version__)
        self.desk = Desk(options)
        self.reader = ThreadPoolExecutor(max_workers=1)
        self._waiting: dict[Path, asyncio.Task[None]] = {}

    def report_server_error(self, error: Exception, source: object) -> None:
        self.tell(internal_error(error))

    def tell(self, message: str) -> None:
        """Leave a message in the log of the editor."""
        params = types.LogMessageParams(type=types.MessageType.Error, message=message)
        self.window_log_message(params)

    # Files

    def lay_out(self, uri: str) -> Sheet:
        """A file with its text as it is now."""
        return self.desk.open(path_of(uri), self.workspace.get_text_document(uri).source)

    def lines(self, text: str) -> Lines:
        encoding = self.workspace.position_encoding or UTF_16
        return lines_of(text, getattr(encoding, "value", str(encoding)))

    def offset(self, sheet: Sheet, position: types.Position) -> int:
        return self.lines(sheet.text).offset(position.line, position.character)

    def range(self, text: str, span: Span) -> types.Range:
        return as_range(self.lines(text), span)

    def location(self, place: Place) -> types.Location:
        return types.Location(uri_of(place.path), self.range(place.text, place.span))

    # Diagnostics

    def schedule(self, uri: str, pause: float = PAUSE) -> None:
        """Look at a file anew after a pause, and at the open files that may refer to it."""
        path = path_of(uri)
        if path in self._waiting:
            self._waiting[path].cancel()
        self._waiting[path] = asyncio.ensure_future(self._look(uri, pause))

    async def _look(self, uri: str, pause: float) -> None:
        await asyncio.sleep(pause)
        sheet = self.desk.sheets.get(path_of(uri))
        if sheet is None:
            return  # closed meanwhile
        await self.diagnose(uri)
        if sheet.kind is not FileKind.PIPELINE:
            for other in list(self.workspace.text_documents):
                if other != uri and path_of(other) in self.desk.sheets:
                    await self.diagnose(other)

    async def diagnose(self, uri: str) -> None:
        """Look at a file anew, and tell the editor what there is to say about it."""
        sheet = self.lay_out(uri)
        text, version = sheet.text, self.workspace.get_text_document(uri).version
        loop = asyncio.get_running_loop()
        try:
            findings = await loop.run_in_executor(self.reader, self.desk.diagnose, sheet)
        except Exception as problem:  # noqa: BLE001, a mistake of ours must not end the session
            self.tell(internal_error(problem))
            return
        if sheet.text != text or sheet.path not in self.desk.sheets:
            return  # what was found is about a text that is gone
        lines = self.lines(text)
        shown = [self._diagnostic(sheet, lines, finding) for finding in findings]
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=shown, version=version)
        )

    def _diagnostic(self, sheet: Sheet, lines: Lines, finding: Diagnostic) -> types.Diagnostic:
        """A finding; one about another file stands where that one is referred to."""
        labels = [*([finding.primary] if finding.primary else []), *finding.secondary]
        here = next((label for label in labels if self._is_here(sheet, label)), None)
        message = finding.message + (f"\nhelp: {finding.help}" if finding.help else "")
        if finding.primary and here is not finding.primary:
            place = finding.primary.location
            name = self.desk.file_of(sheet, place).name
            message = f"{name}:{place.start.line}: {message}"
        related = [
            types.DiagnosticRelatedInformation(self._label(sheet, label), label.text or "here")
            for label in labels
            if label is not here
        ]
        is_error = finding.severity is Severity.ERROR
        level = types.DiagnosticSeverity.Error if is_error else types.DiagnosticSeverity.Warning
        return types.Diagnostic(
            range=as_range(lines, here.location.span if here else Span(0, 0)),
            message=message,
            severity=level,
            code=finding.code,
            source=_SOURCE,
            related_information=related or None,
        )

    def _is_here(self, sheet: Sheet, label: Label) -> bool:
        return self.desk.file_of(sheet, label.location) == sheet.path

    def _label(self, sheet: Sheet, label: Label) -> types.Location:
        text = label.location.source.text
        path = self.desk.file_of(sheet, label.location)
        return types.Location(uri_of(path), self.range(text, label.location.span))


def serve(options: Options) -> None:
    """Serve an editor on standard input and output until it is done."""
    logging.getLogger("pygls").addHandler(logging.NullHandler())
    logging.getLogger("pygls").propagate = False
    server = make_server(options)
    # Plans are large and live long: looking through them for garbage again and again would take a
    # third of the time.
    gc.freeze()
    gc.set_threshold(200_000, 10, 10)
    server.start_io()


def make_server(options: Options) -> Server:
    server = Server(options)
    _add_files(server)
    _add_questions(server)
    _add_changes(server)
    return server


def _add_files(server: Server) -> None:
    """What editors tell about files."""

    @server.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        # The first question about a key should not have to wait for this.
        loop = asyncio.get_running_loop()
        loop.run_in_executor(server.reader, schema.schema_of, FileKind.PIPELINE)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.lay_out(params.text_document.uri)
        server.schedule(params.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.lay_out(params.text_document.uri)
        server.schedule(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.schedule(params.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.desk.close(path_of(uri))
        server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=[])
        )


def _add_questions(server: Server) -> None:
    """What editors ask about places."""

    def at(params: _Pointing) -> tuple[Sheet, int]:
        sheet = server.lay_out(params.text_document.uri)
        return sheet, server.offset(sheet, params.position)

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=[".", "$", ":", "[", "{", " "]),
    )
    def completion(params: types.CompletionParams) -> types.CompletionList:
        # A blank in CXL is no question, behind a key it is one.
        typed = params.context.trigger_character if params.context else None
        suggestions = server.desk.complete(*at(params), in_cxl=typed != " ")
        return types.CompletionList(False, [as_item(suggestion) for suggestion in suggestions])

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        sheet, offset = at(params)
        told = server.desk.hover(sheet, offset)
        if told is None:
            return None
        content = types.MarkupContent(types.MarkupKind.Markdown, told.text)
        return types.Hover(content, server.range(sheet.text, told.span))

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> list[types.Location]:
        return [server.location(place) for place in server.desk.definitions(*at(params))]

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(params: types.ReferenceParams) -> list[types.Location]:
        return [server.location(place) for place in server.desk.references(*at(params))]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        sheet = server.lay_out(params.text_document.uri)
        text = sheet.atlas.model.text if sheet.atlas else ""
        lines = server.lines(text)
        return [as_symbol(lines, symbol) for symbol in server.desk.outline(sheet)]


def _add_changes(server: Server) -> None:
    """What editors want to have changed."""

    def edits(sheet: Sheet, changes: list[Edit]) -> list[types.TextEdit]:
        lines = server.lines(sheet.text)
        return [as_edit(lines, change) for change in changes]

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        sheet = server.lay_out(params.text_document.uri)
        return edits(sheet, server.desk.format(sheet))

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(params: types.PrepareRenameParams) -> types.Range | None:
        sheet = server.lay_out(params.text_document.uri)
        span = server.desk.renameable(sheet, server.offset(sheet, params.position))
        return server.range(sheet.text, span) if span else None

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def renaming(params: types.RenameParams) -> types.WorkspaceEdit:
        sheet = server.lay_out(params.text_document.uri)
        offset = server.offset(sheet, params.position)
        try:
            changes = server.desk.rename(sheet, offset, params.new_name)
        except CannotRename as refusal:
            raise JsonRpcException(str(refusal), _REQUEST_FAILED) from None
        return types.WorkspaceEdit({params.text_document.uri: edits(sheet, changes)})
