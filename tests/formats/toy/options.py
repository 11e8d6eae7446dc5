"""What users may write for the toy format."""

from __future__ import annotations

from clinker.config.formats.base import FormatOptions
from clinker.config.model import Model


class ToyReading(Model):
    prefix: str = ""


class ToyWriting(Model):
    prefix: str = ""


FORMAT = FormatOptions(name="toy", reading=ToyReading, writing=ToyWriting)
