"""Play rounds of faults and write what came of them into docs/reliability.md."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from random import Random

from faults.commits import commit_round, recovery_round
from faults.runs import Round, Runs, can_mount, rounds, server
from faults.staging import staging_round
from faults.verdict import Verdict

PAGE = Path(__file__).parent.parent / "docs" / "reliability.md"
BEGIN, END = "<!-- faults: begin -->", "<!-- faults: end -->"
WEIGHTS = {
    "a commit is killed": 40,
    "a recovery is killed": 16,
    "runs are killed that stage the same source": 14,
    "the command is killed": 14,
    "the input changes": 10,
    "the command gets signals": 8,
    "the command is killed, with a Spark of its own": 4,
    "Java is killed": 3,
    "a Python worker is killed": 3,
    "the disk is full": 2,
}
"""How often each of them is played, beside the others."""
CHEAP: Mapping[str, Round] = {
    "a commit is killed": commit_round,
    "a recovery is killed": recovery_round,
    "runs are killed that stage the same source": staging_round,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/faults", description=__doc__)
    parser.add_argument("--rounds", type=int, default=300, help="how many (default: 300)")
    parser.add_argument("--seed", type=int, default=1, help="what decides at random (default: 1)")
    parser.add_argument("--only", default="", help="kinds whose name contains this; writes no page")
    args = parser.parse_args()
    if not any(args.only in kind for kind in WEIGHTS):
        parser.error(f"no kind has '{args.only}' in its name: {', '.join(WEIGHTS)}")
    begun = time.monotonic()
    counts = play(args.rounds, args.seed, args.only)
    table = as_table(counts)
    print(table)
    if not args.only:
        minutes = round((time.monotonic() - begun) / 60)
        cores = f"{os.cpu_count()} cores, {platform.system()}"
        write_page(
            f"{table}\n\n{args.rounds} rounds, seed {args.seed}, {minutes} minutes, {cores}."
        )
    return int(any(set(found) - {Verdict.SURVIVED} for found in counts.values()))


def play(number: int, seed: int, only: str = "") -> dict[str, Counter[Verdict]]:
    """Play rounds; what came of those of each kind."""
    random = Random(seed)
    kinds = [kind for kind in WEIGHTS if only in kind]
    if "the disk is full" in kinds and not can_mount():
        print("no rounds with a full disk: only root can mount a small one", file=sys.stderr)
        kinds.remove("the disk is full")
    drawn = random.choices(kinds, [WEIGHTS[kind] for kind in kinds], k=number)
    counts: dict[str, Counter[Verdict]] = {kind: Counter() for kind in kinds}
    with ExitStack() as open_things:
        place = Path(open_things.enter_context(tempfile.TemporaryDirectory(prefix="faults-")))
        played = dict(CHEAP)
        if set(drawn) - set(CHEAP):
            played |= rounds(Runs(place / "undisturbed", open_things.enter_context(server())))
        # Rounds do not depend on those before, so that one can be played again.
        for at, kind in sorted(enumerate(drawn), key=lambda each: kinds.index(each[1])):
            here = place / str(at)
            verdict = played[kind](here, Random(f"{seed} {at}"))
            counts[kind][verdict] += 1
            if verdict is Verdict.SURVIVED:
                shutil.rmtree(here, ignore_errors=True)
            else:
                kept = Path(tempfile.mkdtemp(prefix=f"faults-{seed}-{at}-"))
                shutil.copytree(here, kept, dirs_exist_ok=True, symlinks=True)
                print(f"round {at}: {kind}: {verdict.value}; see {kept}", file=sys.stderr)
    return counts


def as_table(counts: Mapping[str, Counter[Verdict]]) -> str:
    verdicts = list(Verdict)
    lines = [
        f"| What happens | tried | {' | '.join(verdict.value for verdict in verdicts)} |",
        "|---|" + "---:|" * (1 + len(verdicts)),
    ]
    for kind, found in {**counts, "**all**": sum(counts.values(), Counter())}.items():
        cells = [found.total(), *(found[verdict] for verdict in verdicts)]
        lines.append(f"| {kind} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def write_page(text: str) -> None:
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")


if __name__ == "__main__":
    sys.exit(main())
