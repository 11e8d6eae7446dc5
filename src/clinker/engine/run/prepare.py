"""What a run does before it needs a session: nothing is computed yet, nothing can be lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from clinker.cxl.syntax.ast import TraceLevel
from clinker.engine.reading.inputs import SourceInput, open_inputs
from clinker.engine.reading.staging import StagedSources
from clinker.engine.rejects.sites import Sites
from clinker.engine.report.facts import Identity, identify
from clinker.engine.run.claiming import Claiming
from clinker.engine.run.observer import Observer
from clinker.engine.run.watch import Watch
from clinker.engine.writing.collecting import FileKey
from clinker.engine.writing.destinations import (
    Destinations,
    check_existing,
    known_directories,
    known_files,
)
from clinker.formats.files.marks import nearest_directory
from clinker.formats.files.objects.recovery import recover_objects
from clinker.formats.files.publication import Publication
from clinker.formats.files.recovery import recover
from clinker.formats.files.spool import Spool
from clinker.frozen import frozen
from clinker.plan.compile import Plan
from clinker.plan.files.paths import with_parents
from clinker.stores.urls import FilePath, ObjectUrl


@frozen(eq=False, kw_only=True)
class Prepared:
    """A run that can begin to compute."""

    plan: Plan
    observer: Observer
    identity: Identity
    sites: Sites
    staged: StagedSources
    inputs: tuple[SourceInput, ...]
    destinations: Destinations
    publication: Publication
    claiming: Claiming
    claimed: tuple[FilePath, ...]
    watch: Watch

    @property
    def total(self) -> int:
        """How many records the sources have."""
        return sum(source.records for source in self.inputs)


def prepare(
    plan: Plan, observer: Observer, spool: Spool, staged: StagedSources, watch: Watch
) -> Prepared:
    """Open the inputs and make sure that outputs can be written; `RunError` if they cannot."""
    identity = identify(plan.options.batch_id)
    observer.began(identity)
    publication = Publication(identity.execution_id, spool.folder)
    try:
        return _prepare(plan, observer, spool, staged, watch, identity, publication)
    except BaseException:
        publication.discard()
        raise


def _prepare(
    plan: Plan,
    observer: Observer,
    spool: Spool,
    staged: StagedSources,
    watch: Watch,
    identity: Identity,
    publication: Publication,
) -> Prepared:
    def clear() -> None:
        _recover(plan, observer, known_directories(plan, identity))

    clear()
    claiming = Claiming(plan, identity, publication, observer, clear)
    known = known_files(plan, identity)
    if not plan.options.preview:
        claiming.claim(known)
    check_existing(plan, identity)
    sites = Sites()
    opened = open_inputs(plan, identity, sites, spool, observer, staged=staged)
    inputs = tuple(source.metered(spool) for source in opened)
    for warning in (w for source in inputs for w in source.inventory.warnings):
        observer.warned(warning)
    destinations = Destinations(plan, identity, inputs)
    _recover(plan, observer, destinations.directories())
    claimed = (*known, *destinations.files())
    if not plan.options.preview and len(claimed) > len(known):
        claiming.claim(claimed)
        check_existing(plan, identity)
    destinations.check()
    return Prepared(
        plan=plan,
        observer=observer,
        identity=identity,
        sites=sites,
        staged=staged,
        inputs=inputs,
        destinations=destinations,
        publication=publication,
        claiming=claiming,
        claimed=claimed,
        watch=watch,
    )


def admit(prepared: Prepared, found: Mapping[str, Sequence[FileKey]]) -> None:
    """Prepare the files of some outputs that only their records tell of; `RunError` if they cannot
    be written."""
    destinations = prepared.destinations
    paths = destinations.paths(found)
    _recover(prepared.plan, prepared.observer, dict.fromkeys(path.parent for path in paths))
    prepared.claiming.claim([*prepared.claimed, *paths])
    destinations.check(found)


def _recover(plan: Plan, observer: Observer, directories: Iterable[FilePath]) -> None:
    """Undo, complete or remove what killed runs have left where this one is going to write.

    Before a directory is made, its files lie aside in one above it.
    """
    if plan.options.preview:
        return
    base_dir = plan.options.base_dir
    places = [place for each in directories for place in with_parents(each, base_dir)]
    files = (nearest_directory(place) for place in places if isinstance(place, Path))
    objects = [place for place in places if isinstance(place, ObjectUrl)]
    for recovered in [*recover(files), *recover_objects(objects)]:
        if recovered.undone or recovered.completed or recovered.problem:
            observer.warned(str(recovered))
        else:
            observer.logged(TraceLevel.INFO, str(recovered))
