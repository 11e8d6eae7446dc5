"""Arguments that several commands take."""

from __future__ import annotations

import argparse
from typing import TypeAlias

from clinker.cli.arguments.values import Once, at_least, memory_size, utf_8
from clinker.cli.command import Parser
from clinker.engine_names import ENGINES

LOG_LEVELS = ("error", "warn", "info", "debug", "trace")

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def add_compilation(command: argparse._ActionsContainer) -> None:
    """What decides how a pipeline file is read, wherever one is compiled."""
    command.add_argument(
        "--base-dir",
        metavar="DIR",
        help="where relative paths start (default: the pipeline file's directory)",
    )
    command.add_argument(
        "--channel", metavar="FILE", action=Once, help="a .channel.yaml file to apply"
    )
    command.add_argument(
        "--rules-path", metavar="DIR", help="where `use` finds CXL modules (default: ./rules)"
    )
    command.add_argument(
        "--allow-absolute-paths", action="store_true", help="permit absolute paths in the file"
    )
    command.add_argument(
        "--env", metavar="NAME", help="the active environment (default: $CLINKER_ENV)"
    )
    command.add_argument(
        "--var",
        metavar="NAME=VALUE",
        type=utf_8,
        action="append",
        default=[],
        help="the value of a variable that pipeline.vars declares; can be repeated",
    )


def add_session(command: argparse.ArgumentParser) -> None:
    """What decides where something is computed, for commands that write no files."""
    add_resources(command.add_argument_group("resources"))
    add_engine(command)
    reporting = command.add_argument_group("reporting")
    reporting.add_argument("--quiet", action="store_true", help="show no progress, only problems")
    reporting.add_argument(
        "--log-level", choices=LOG_LEVELS, default="warn", help="how much is logged"
    )


def add_resources(resources: argparse._ActionsContainer) -> None:
    """What a session may use, wherever one is opened."""
    resources.add_argument(
        "--memory-limit",
        metavar="SIZE",
        type=memory_size,
        help="memory for the run, as 512M or 2G (default: the file's memory.limit, else 512M)",
    )
    resources.add_argument(
        "--threads", metavar="N", type=at_least(1), help="processor cores to use (default: all)"
    )


def add_engine(command: argparse.ArgumentParser) -> None:
    engine = command.add_argument_group("engine")
    engine.add_argument(
        "--engine",
        choices=ENGINES,
        help="what computes: spark, or sail, which starts faster, on this machine only "
        "(default: $CLINKER_ENGINE, else clinker.toml, else spark)",
    )
    where = engine.add_mutually_exclusive_group()
    where.add_argument(
        "--master",
        metavar="URL",
        help="the Spark cluster, as spark://host:7077, yarn or k8s://… (default: this machine)",
    )
    where.add_argument(
        "--remote",
        metavar="URL",
        help="a Spark Connect server, as sc://host:15002 (default: $CLINKER_REMOTE)",
    )
    engine.add_argument(
        "--ship-env",
        action="store_true",
        help="send the packages that are installed here to the workers of --master",
    )
    engine.add_argument(
        "--spark-conf",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a Spark setting; can be repeated",
    )
