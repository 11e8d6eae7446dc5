"""This package as a file, for workers on other machines."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PACKAGE = Path(__file__).parents[2]


def ship_package(spark: SparkSession, directory: Path) -> None:
    """Let all workers of a session import this package."""
    archive = directory / "clinker.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(_PACKAGE.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                packed.write(file, file.relative_to(_PACKAGE.parent))
    spark.addArtifacts(str(archive), pyfile=True)
