"""Build the documentation as a site, and show it."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from website.build import BuildError, build
from website.pages import ROOT, NoPageError

_SITE = ROOT / "site"


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/site", description=__doc__)
    parser.add_argument("--serve", action="store_true", help="show the site, until Ctrl-C")
    parser.add_argument("--port", type=int, default=8000, help="where to show it; default: 8000")
    args = parser.parse_args()
    try:
        build(_SITE)
    except (BuildError, NoPageError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"ok: built {_SITE.relative_to(ROOT)}/; open {_SITE.name}/index.html, or --serve it")
    if args.serve:
        _serve(args.port)
    return 0


def _serve(port: int) -> None:
    handler = partial(SimpleHTTPRequestHandler, directory=_SITE)
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    sys.exit(main())
