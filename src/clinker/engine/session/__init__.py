"""The Spark a pipeline runs on. The only place that knows of JVMs, gateways and contexts."""

from clinker.engine.session.jvm import Jvm
from clinker.engine.session.memory import MemorySampler
from clinker.engine.session.opening import adopt, open_session, start_jvm
from clinker.engine.session.settings import SessionError, SessionSettings

__all__ = [
    "Jvm",
    "MemorySampler",
    "SessionError",
    "SessionSettings",
    "adopt",
    "open_session",
    "start_jvm",
]
