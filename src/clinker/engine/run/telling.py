"""What a run has to say to a Python program: through the logger `clinker`."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from clinker.cxl.failure import printable
from clinker.cxl.syntax.ast import TraceLevel
from clinker.cxl.values import Value
from clinker.engine.run.observer import Quiet

_LEVELS = {
    TraceLevel.TRACE: 5,
    TraceLevel.DEBUG: logging.DEBUG,
    TraceLevel.INFO: logging.INFO,
    TraceLevel.WARN: logging.WARNING,
    TraceLevel.ERROR: logging.ERROR,
}


class Telling(Quiet):
    """An observer that passes on what is said; a record has its `node` and `fields`, too."""

    def __init__(self) -> None:
        self._logger = logging.getLogger("clinker")

    def warned(self, text: str) -> None:
        self.logged(TraceLevel.WARN, text)

    def wants(self, level: TraceLevel) -> bool:
        return self._logger.isEnabledFor(_LEVELS[level])

    def logged(
        self,
        level: TraceLevel,
        text: str,
        node: str | None = None,
        fields: Mapping[str, Value] | None = None,
    ) -> None:
        message = printable(f"{node}: {text}" if node else text)
        extra = {"node": node, "fields": dict(fields or {})}
        self._logger.log(_LEVELS[level], "%s", message, extra=extra)
