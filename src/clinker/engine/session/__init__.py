"""The engine a pipeline runs on. The only place that knows of JVMs, gateways and contexts.

session                 a session, and what a run asks of it
engine                  what engines differ in; another engine is a subclass of `Engine`
frames, types           descriptions of tables built as DataFrames
opening                 how a run comes to its session
classic, jvm, java, …   a JVM of our own; remote: a Spark Connect server
sail, sail_engine       Sail, in this process; sorting: order for engines that keep none
recognizing             which engine it is
settings, conf, memory  what users may choose, and what follows from it
usage, spilling         how much memory all processes hold; what Spark wrote to disk instead
workspace               the directory of a run
daemon                  what Python workers are forked from
"""

from clinker.engine.session.jvm import Jvm
from clinker.engine.session.opening import adopt, open_session, start_jvm
from clinker.engine.session.settings import SessionError, SessionSettings

__all__ = [
    "Jvm",
    "SessionError",
    "SessionSettings",
    "adopt",
    "open_session",
    "start_jvm",
]
