"""Recovery: what killed runs have left in stores; a commit that has begun is completed.

Runs that may be alive are never touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clinker.formats.files.objects.commit import read_record, record_in
from clinker.formats.files.objects.marks import (
    MARK,
    aside_directory,
    read_mark,
    runs_in,
)
from clinker.formats.files.recovery import Recovered
from clinker.stores.access import ObjectFacts, list_objects, remove_directory, remove_object
from clinker.stores.urls import ASIDE, ObjectUrl


def recover_objects(directories: Iterable[ObjectUrl], *, force: bool = False) -> list[Recovered]:
    """Recover what killed runs have left in directories of stores.

    With `force` also what belongs to runs of which only their marks say that they may be alive.
    """
    recovered: list[Recovered] = []
    for directory in dict.fromkeys(directories):
        try:
            runs = runs_in(directory)
        except OSError:  # whoever goes on to read or write there is told why
            continue
        for run_id, found in runs.items():
            result = _recover(directory, run_id, found, force)
            if result:
                recovered.append(result)
    return recovered


def places_below(directory: ObjectUrl) -> list[ObjectUrl]:
    """A directory, and those below it in which runs have left something; OSError if the store
    cannot be asked."""
    places = {directory: None}
    for found in list_objects(directory, recursive=True):
        before, aside, _ = f"/{found.url.key}".partition(f"/{ASIDE}/")
        if aside:
            places[ObjectUrl(directory.scheme, directory.authority, before.lstrip("/"))] = None
    return list(places)


def _recover(
    directory: ObjectUrl, run_id: str, found: Sequence[ObjectFacts], force: bool
) -> Recovered | None:
    try:
        mark = read_mark(directory, run_id, found)
        if mark and mark.may_be_alive and not force:
            return None
        home = mark.home if mark else directory
        record = read_record(home, run_id)
        completed = record.complete() if record else []
        places = {directory, home, *(record.directories if record else ())}
        if record:
            remove_object(record_in(home, run_id))
        for place in places:
            remove_directory(aside_directory(place, run_id))
    except (OSError, ValueError) as problem:
        reason = str(getattr(problem, "strerror", None) or problem)
        return Recovered(directory=directory, run_id=run_id, problem=reason)
    removed = sum(each.url.name != MARK for each in found)
    if not (completed or removed):
        return None
    return Recovered(
        directory=directory, run_id=run_id, completed=tuple(completed), removed=removed
    )
