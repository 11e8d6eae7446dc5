"""`cxl fmt`"""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from clinker.cli.command import CXL_IO, report
from clinker.cli.inputs import STANDARD_INPUT, UsageError, read_program
from clinker.cli.rewriting import replace_file
from clinker.cxl.syntax.format import format_program
from clinker.cxl.syntax.parser import parse


def run(args: Namespace) -> int:
    if args.write and STANDARD_INPUT in args.files:
        raise UsageError("--write needs files; standard input cannot be rewritten")
    return max(_format(path, args) for path in args.files)


def _format(path: str, args: Namespace) -> int:
    source = read_program(path)
    parsed = parse(source)
    if parsed.diagnostics:
        report(parsed.diagnostics, args.format)
        return 1
    text = format_program(parsed)
    if args.check:
        if text == source.text:
            return 0
        print(f"would reformat {path}", file=sys.stderr)
        return 1
    if not args.write:
        sys.stdout.write(text)
    elif text != source.text:
        replace_file(Path(path), text.encode(), CXL_IO)
        print(f"reformatted {path}", file=sys.stderr)
    return 0
