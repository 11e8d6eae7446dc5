"""The outcome of a case."""

from __future__ import annotations

from collections.abc import Sequence

from clinker.diagnostics import Diagnostic
from clinker.frozen import frozen
from clinker.testing.judging import Difference


@frozen(kw_only=True)
class Outcome:
    """Whether a case has passed, and if not, why."""

    file: str
    """The test file, as the user knows it."""
    name: str
    seconds: float = 0.0
    differences: Sequence[Difference] = ()
    diagnostics: Sequence[Diagnostic] = ()
    """What is wrong with the pipeline or the test itself."""
    is_unusable: bool = False
    """Whether it could not be tried at all."""
    is_updated: bool = False
    """Whether its expectations have been made what was found."""

    @property
    def has_passed(self) -> bool:
        return self.is_updated or not (self.differences or self.is_unusable)
