"""What is answered, in the words of the Language Server Protocol."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from clinker.diagnostics import Span
from clinker.editing.checking import whole
from clinker.editing.formatting import Edit
from clinker.editing.positions import Lines
from clinker.editing.suggestion import Kind, Suggestion
from clinker.editing.symbols import Symbol

_KINDS = {
    Kind.KEY: types.CompletionItemKind.Property,
    Kind.WORD: types.CompletionItemKind.EnumMember,
    Kind.NODE: types.CompletionItemKind.Reference,
    Kind.FIELD: types.CompletionItemKind.Field,
    Kind.LOCAL: types.CompletionItemKind.Variable,
    Kind.METHOD: types.CompletionItemKind.Method,
    Kind.FUNCTION: types.CompletionItemKind.Function,
    Kind.MODULE: types.CompletionItemKind.Module,
    Kind.KEYWORD: types.CompletionItemKind.Keyword,
}
_SYMBOLS = {
    "emit": types.SymbolKind.Field,
    "emit meta": types.SymbolKind.Field,
    "let": types.SymbolKind.Variable,
    "fn": types.SymbolKind.Function,
    "": types.SymbolKind.Namespace,
}


def path_of(uri: str) -> Path:
    """The file of an address; what has none yet stands in the working directory."""
    path = to_fs_path(uri)
    return whole(Path(path or f"{uri.rpartition(':')[2] or 'untitled'}.yaml"))


def uri_of(path: Path) -> str:
    return from_fs_path(str(path)) or path.as_uri()


def as_range(lines: Lines, span: Span) -> types.Range:
    start, end = lines.place(span.start), lines.place(span.end)
    return types.Range(types.Position(*start), types.Position(*end))


def as_item(suggestion: Suggestion) -> types.CompletionItem:
    content = types.MarkupContent(types.MarkupKind.Markdown, suggestion.documentation)
    return types.CompletionItem(
        label=suggestion.label,
        kind=_KINDS[suggestion.kind],
        detail=suggestion.detail or None,
        documentation=content if suggestion.documentation else None,
        insert_text=suggestion.insert,
        sort_text=f"{suggestion.rank:03}{suggestion.label}",
    )


def as_symbol(lines: Lines, symbol: Symbol) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=symbol.name or "?",
        kind=_SYMBOLS.get(symbol.detail, types.SymbolKind.Class),
        range=as_range(lines, symbol.whole),
        selection_range=as_range(lines, symbol.name_span),
        detail=symbol.detail or None,
        children=[as_symbol(lines, child) for child in symbol.children],
    )


def as_edit(lines: Lines, edit: Edit) -> types.TextEdit:
    return types.TextEdit(as_range(lines, edit.span), edit.text)
