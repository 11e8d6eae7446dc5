"""`cxl completion`"""

from __future__ import annotations

import sys
from argparse import Namespace

from clinker.cli.command import OK
from clinker.cli.completion import completion
from clinker.cli.cxl import command_parser


def run(args: Namespace) -> int:
    sys.stdout.write(completion(command_parser(), args.shell) + "\n")
    return OK
