"""This package as a file, for workers on other machines."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from clinker.engine.session.settings import SessionError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PACKAGE = Path(__file__).parents[2]


def ship_package(spark: SparkSession, directory: Path) -> None:
    """Let all workers of a session import this package."""
    archive = directory / "clinker.zip"
    try:
        _pack(archive)
    except OSError as problem:
        raise SessionError(
            f"cannot pack clinker for the workers of Spark in '{directory.parent}': "
            f"{problem.strerror}"
        ) from problem
    spark.addArtifacts(str(archive), pyfile=True)


def _pack(archive: Path) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(_PACKAGE.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                packed.write(file, file.relative_to(_PACKAGE.parent))
