"""The command line that starts Spark's JVM.

`spark-submit` would start one JVM only to compute the command line of another. For this machine
the gateway is started at once; for a cluster `SparkSubmit` runs in the same JVM, since it knows
what each kind of cluster needs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from clinker.cxl.failure import printable
from clinker.engine.session.conf import memory_split
from clinker.engine.session.java import Java
from clinker.engine.session.settings import SessionError, SessionSettings

_UNFIT = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
"""Control characters, and bytes that are no text."""
_DIRECT_MEMORY = "256m"
"""For batches on their way to Python; by default it would be as much as the heap."""
_LOGGING = Path(__file__).with_name("log4j2.properties")
_OPENED = (
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.io",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "jdk.internal.ref",
    "sun.nio.ch",
    "sun.nio.cs",
    "sun.security.action",
    "sun.util.calendar",
)

# Most of what a short run executes is executed a few times. By default the optimizing compiler
# takes half of its time, so it is left to code that has run ten times as often as is usual. That
# costs a long run nothing.
_COMPILATION = (
    "-XX:-AOTReplayTraining",
    "-XX:Tier4InvocationThreshold=50000",
    "-XX:Tier4MinInvocationThreshold=6000",
    "-XX:Tier4CompileThreshold=150000",
    "-XX:Tier4BackEdgeThreshold=400000",
    "-XX:-DontCompileHugeMethods",  # those that Spark generates for long programs
)


def fixed_flags(java: Java) -> list[str]:
    """The flags that every run has. An ahead-of-time cache is good for one choice of them."""
    flags = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED]
    flags += [
        "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
        "-XX:+IgnoreUnrecognizedVMOptions",
        "-XX:+UnlockDiagnosticVMOptions",
        *_COMPILATION,
        "-XX:+UseSerialGC",
        "-Xss4m",  # regular expressions recurse
        "-XX:+ExitOnOutOfMemoryError",  # Spark waits forever for threads that died of it
        "-XX:ReservedCodeCacheSize=160m",
        "-XX:-UsePerfData",
        "-Dio.netty.tryReflectionSetAccessible=true",
        "-Djava.awt.headless=true",
        "-Duser.language=en",  # case mapping and formats must not depend on the machine
        "-Duser.country=US",
        "-Dlog4j2.disableJmx=true",
        f"-Dlog4j2.configurationFile={_LOGGING}",
    ]
    if java.major >= 24:
        flags += ["--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"]
    return flags


def run_flags(settings: SessionSettings, directory: Path) -> list[str]:
    """The flags that differ between runs."""
    optimizing = [] if not settings.is_brief else ["-XX:TieredStopAtLevel=1"]  # only the other one
    return [
        *optimizing,
        f"-Xmx{memory_split(settings).heap // 2**20}m",
        "-XX:NewRatio=3",  # what Spark sorts and joins with lives long
        f"-XX:MaxDirectMemorySize={_DIRECT_MEMORY}",
        f"-Djava.io.tmpdir={directory}",
        f"-XX:ErrorFile={directory}/crash.log",  # not in the working directory
        f"-Dclinker.log.level={'info' if settings.debug else 'error'}",
        *settings.spark_conf.get("spark.driver.extraJavaOptions", "").split(),
    ]


def class_path(
    jars: Path,
    settings: SessionSettings,
    environ: Mapping[str, str],
    copies: Mapping[str, Path] | None = None,
) -> str:
    """Spark's jars first and in a fixed order, as an ahead-of-time cache requires; `copies` take
    the place of those of the same name."""
    found = sorted(jars.glob("*.jar"))
    entries = [str((copies or {}).get(jar.name, jar)) for jar in found]
    if extra := settings.spark_conf.get("spark.driver.extraClassPath"):
        entries.append(extra)
    if not settings.is_local:
        names = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR")
        # An empty entry would be the working directory.
        entries += filter(None, (environ.get(name) for name in names))
    return os.pathsep.join(entries)


def program(settings: SessionSettings, conf: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """System properties, and the main class with its arguments."""
    if settings.is_local:
        return (
            [f"-D{name}={value}" for name, value in conf.items()],
            ["org.apache.spark.api.python.PythonGatewayServer"],
        )
    arguments = [part for item in conf.items() for part in ("--conf", "=".join(item))]
    return [], ["org.apache.spark.deploy.SparkSubmit", *arguments, "pyspark-shell"]


def argument_file(arguments: Sequence[str]) -> str:
    """Arguments as `java @file` reads them; they may hold secrets, which `ps` would show."""
    for argument in arguments:
        _check_is_one(argument)
    quoted = (argument.replace("\\", "\\\\").replace('"', '\\"') for argument in arguments)
    return "".join(f'"{argument}"\n' for argument in quoted)


def _check_is_one(argument: str) -> None:
    """Java would read what follows a line break as options of their own.

    Values are not shown: they may be secrets.
    """
    found = _UNFIT.search(argument)
    if found is None:
        return
    name, equals, _ = argument.partition("=")
    what = printable(name.removeprefix("-D")) if equals else "a path of the class path"
    raise SessionError(
        f"{what} holds {found[0]!r}, which Java cannot be given: "
        "remove it where the value comes from (--spark-conf, clinker.toml, TMPDIR, JAVA_HOME)"
    )
