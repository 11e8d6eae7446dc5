"""OpenLineage: what a run reads and writes, told to a catalogue in its standard form.

datasets  what sources and outputs are called there
facets    what is told of runs, jobs and datasets
events    that a run has begun, and what became of it
telling   a run tells when it begins and ends
sending   events go to a file or to a web service; a run never fails for them, nor waits long
"""

from clinker.engine.report.openlineage.events import Events
from clinker.engine.report.openlineage.sending import receiver_of
from clinker.engine.report.openlineage.telling import Telling

__all__ = ["Events", "Telling", "receiver_of"]
