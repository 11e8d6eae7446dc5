"""Feed random input to the readers, the compilers and the engine; exit 1 if an answer is wrong."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack

from clinker.engine.session import SessionSettings, open_session
from clinker.engine.session.session import Session
from fuzz import csv_files, json_files, literals, names, pipelines, xml_files
from fuzz.findings import Tally

AREAS = ("csv", "json", "xml", "pipelines", "names", "literals")
_ON_SPARK = ("names", "literals")
_MEMORY = 2 * 2**30


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000, help="in all areas together")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same rounds")
    parser.add_argument("--area", choices=(*AREAS, "all"), default="all")
    parser.add_argument("--first", type=int, default=0, help="the first round of every area")
    parser.add_argument("--no-spark", action="store_true", help="leave out what needs an engine")
    args = parser.parse_args(arguments)
    areas = AREAS if args.area == "all" else (args.area,)
    rounds = range(args.first, args.first + -(-args.rounds // len(areas)))
    tally = Tally()
    print(f"seed {args.seed}, rounds {rounds.start} to {rounds.stop - 1} of {', '.join(areas)}")
    with ExitStack() as stack:
        session = None
        if not args.no_spark and set(areas) & set(_ON_SPARK):
            settings = SessionSettings(memory_limit=_MEMORY)
            session = stack.enter_context(open_session(settings))
        for area in areas:
            _play(area, args.seed, rounds, tally, session)
    print(tally.summary())
    return 1 if tally.findings else 0


def _play(area: str, seed: int, rounds: range, tally: Tally, session: Session | None) -> None:
    began = time.monotonic()
    known = len(tally.findings)
    match area:
        case "csv":
            csv_files.play(seed, rounds, tally)
        case "json":
            json_files.play(seed, rounds, tally)
        case "xml":
            xml_files.play(seed, rounds, tally)
        case "pipelines":
            pipelines.play(seed, rounds, tally)
        case "names":
            names.play(seed, rounds, tally, session)
        case _:
            literals.play(seed, rounds, tally, session)
    found = tally.findings[known:]
    print(f"{area}: {len(rounds)} rounds in {time.monotonic() - began:.0f} s, {len(found)} wrong")
    for finding in found:
        print(f"\n  {finding.kind.value} in round {finding.round} of {area}, seed {seed}")
        print(f"    {finding.detail.replace(chr(10), chr(10) + '    ')}")
        print(f"    input: {finding.shown.replace(chr(10), chr(10) + '    ')}")


if __name__ == "__main__":
    sys.exit(main())
