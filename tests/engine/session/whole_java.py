"""Whether this machine can run more of Spark than a driver: that needs a whole JDK."""

from __future__ import annotations

import shutil
import subprocess


def has_whole_java() -> bool:
    java = shutil.which("java")
    if java is None:
        return False
    listed = subprocess.run([java, "--list-modules"], capture_output=True, text=True)
    return "jdk.incubator.vector" in listed.stdout
