"""Objects copied to the spool, from where they are read like files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from clinker.formats.common.read_spec import FormatError, InputFile
from clinker.formats.files.local import input_file
from clinker.formats.files.spool import Spool
from clinker.stores.access import PIECE_BYTES, open_object
from clinker.stores.urls import ObjectUrl

_AT_ONCE = 8
"""So many objects are fetched at once: most of the time a store is only waited for."""
_HELP = "let whoever writes it finish first, then run again"


def fetch_all(
    objects: Mapping[int, ObjectUrl], spool: Spool, advanced: Callable[[int], None]
) -> dict[int, InputFile]:
    """Copies of objects, by their places among the files of a source; `advanced` is told of every
    piece.

    FormatError if one cannot be read, or is replaced while it is: the first of them.
    """
    if not objects:
        return {}
    one_at_a_time = threading.Lock()

    def told(size: int) -> None:
        with one_at_a_time:
            advanced(size)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        fetching = {
            index: pool.submit(_fetch, index, url, spool, told) for index, url in objects.items()
        }
        try:
            return {index: fetched.result() for index, fetched in fetching.items()}
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _fetch(index: int, url: ObjectUrl, spool: Spool, advanced: Callable[[int], None]) -> InputFile:
    """A copy of an object, under its own name for people."""
    shown = str(url)
    with _readable(shown):
        stream = open_object(url)
    with stream, spool.file(shown) as copy:
        while True:
            with _readable(shown):
                piece = stream.read(PIECE_BYTES)
            if not piece:
                break
            copy.write(piece)
            advanced(len(piece))
    with _readable(shown), open_object(url) as now:
        if now.version != stream.version:
            raise FormatError("changed while it was read", shown, _HELP)
    return input_file(index, str(copy.path), shown)


@contextmanager
def _readable(shown: str) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise FormatError(f"cannot be read: {problem.strerror}", shown) from None
