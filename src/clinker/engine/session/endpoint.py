"""Whether a server answers. Spark itself would keep trying for a minute or more."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from clinker.engine.session.secrets import shown_address
from clinker.engine.session.settings import SessionError

_SECONDS = 5
_PORTS = {"sc": 15002, "spark": 7077}


def check_reachable(url: str) -> None:
    """Fail unless one of the servers of a `sc://` or `spark://` address accepts connections."""
    scheme, _, rest = url.partition("://")
    if scheme not in _PORTS:
        return
    problems = []
    for place in rest.partition("/")[0].split(","):
        try:
            parts = urlsplit(f"//{place}")
            host, port = parts.hostname or "", parts.port or _PORTS[scheme]
            socket.create_connection((host, port), timeout=_SECONDS).close()
        except ValueError:
            message = f"'{shown_address(url)}' is not an address such as {scheme}://host:port"
            raise SessionError(message) from None
        except OSError as problem:
            problems.append(f"{host}:{port}: {problem.strerror or problem}")
        else:
            return
    shown = shown_address(url)
    raise SessionError(f"no Spark server answers at '{shown}' ({'; '.join(problems)})")
