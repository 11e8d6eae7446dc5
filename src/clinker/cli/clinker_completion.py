"""`clinker completion`"""

from __future__ import annotations

import sys
from argparse import Namespace

from clinker.cli.clinker import command_parser
from clinker.cli.command import OK
from clinker.cli.completion import completion


def run(args: Namespace) -> int:
    sys.stdout.write(completion(command_parser(), args.shell) + "\n")
    return OK
