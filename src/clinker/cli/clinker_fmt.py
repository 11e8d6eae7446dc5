"""`clinker fmt`"""

from __future__ import annotations

import sys
from argparse import Namespace

from clinker.cli.clinker_check import read, tell
from clinker.cli.command import CONFIGURATION, OK, report
from clinker.cli.rewriting import replace_file
from clinker.cxl.check.modules import read_source
from clinker.diagnostics import Source
from clinker.editing.formatting import FORMATTED, apply, format_source
from clinker.editing.walking import File


def run(args: Namespace) -> int:
    files, problems = read(args.paths)
    codes = [_format(file, args) for file in files if file.kind in FORMATTED]
    return max([OK, *codes, tell(problems) if problems else OK])


def _format(file: File, args: Namespace) -> int:
    name = str(file.path)
    source = _decoded(file)
    formatted = format_source(source, file.kind)
    if formatted.problems:
        report(formatted.problems, args.format)
        return CONFIGURATION
    text = apply(source.text, formatted.edits)
    if args.check:
        if not formatted.edits:
            return OK
        print(f"would reformat {name}", file=sys.stderr)
        return CONFIGURATION
    if not args.write:
        sys.stdout.write(text)
    elif formatted.edits:
        replace_file(file.path, _mark(file) + text.encode("utf-8", "surrogateescape"))
        print(f"reformatted {name}", file=sys.stderr)
    return OK


_MARK = b"\xef\xbb\xbf"


def _mark(file: File) -> bytes:
    """The byte order mark of a file, if it has one."""
    return _MARK if file.content.startswith(_MARK) else b""


def _decoded(file: File) -> Source:
    return read_source(str(file.path), file.content)
