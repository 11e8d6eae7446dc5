"""`clinker schema`"""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from clinker.cli.command import OK
from clinker.config.json_schema import KINDS


def run(args: Namespace) -> int:
    json.dump(KINDS[args.kind](), sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")
    return OK
