"""`clinker schema`"""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from clinker.cli.command import OK
from clinker.config.json_schema import pipeline_json_schema


def run(_: Namespace) -> int:
    json.dump(pipeline_json_schema(), sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")
    return OK
