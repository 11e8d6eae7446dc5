"""Volumes of their own for tests: in memory, on a disk of any size, behind a program."""

from __future__ import annotations

import ctypes
import enum
import errno
import os
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from faults.runs import can_mount

needs_mounts = pytest.mark.skipif(not can_mount(), reason="only root can mount volumes")


@contextmanager
def tmpfs(place: Path, options: str = "size=16m") -> Iterator[Path]:
    """A volume in memory."""
    with _mounted(place, "-t", "tmpfs", "-o", options, "tmpfs"):
        yield place


@contextmanager
def disk(place: Path, megabytes: int) -> Iterator[Path]:
    """A volume as on a disk; skips the test where there are no loop devices."""
    image = place.with_name(f"{place.name}.img")
    with image.open("wb") as file:
        file.truncate(megabytes * 2**20)
    try:
        subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
        with _mounted(place, "-o", "loop", str(image)):
            yield place
    except (FileNotFoundError, subprocess.CalledProcessError) as problem:
        pytest.skip(f"this machine does not mount files as disks: {problem}")
    finally:
        image.unlink()


@contextmanager
def _mounted(place: Path, *options: str) -> Iterator[None]:
    place.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", *options, str(place)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)


@contextmanager
def behind_a_program(place: Path) -> Iterator[Path]:
    """An empty volume that a program makes up, as many network file systems do (FUSE).

    It can be looked at and not written to.
    """
    place.mkdir(parents=True, exist_ok=True)
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        device = os.open("/dev/fuse", os.O_RDWR)
    except OSError as problem:
        pytest.skip(f"this machine has no FUSE: {problem}")
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
    if libc.mount(b"made-up", bytes(place), b"fuse.made-up", 0, options):
        os.close(device)
        pytest.skip(f"this machine does not mount FUSE: {os.strerror(ctypes.get_errno())}")
    serving = threading.Thread(target=_serve, args=(device,), daemon=True)
    serving.start()
    try:
        yield place
    finally:
        libc.umount2(bytes(place), 2)
        serving.join()
        os.close(device)


_IN, _OUT = struct.Struct("<IIQQIIIHH"), struct.Struct("<IiQ")


class Operation(enum.IntEnum):
    LOOKUP = 1
    FORGET = 2
    GETATTR = 3
    INIT = 26
    BATCH_FORGET = 42


_ATTRIBUTES = struct.Struct("<QIIQQQQQQIIIIIIIIII")
_DIRECTORY = 0o40755
_INITIAL = struct.Struct("<IIIIHHI")


def _serve(device: int) -> None:
    with suppress(OSError):  # it is unmounted
        while True:
            request = os.read(device, 1 << 20)
            _, operation, unique, *_ = _IN.unpack_from(request)
            if operation in (Operation.FORGET, Operation.BATCH_FORGET):  # want no answer
                continue
            error, answer = _answer(operation)
            os.write(device, _OUT.pack(_OUT.size + len(answer), -error, unique) + answer)


def _answer(operation: int) -> tuple[int, bytes]:
    match operation:
        case Operation.INIT:
            return 0, _INITIAL.pack(7, 22, 0, 0, 0, 0, 1 << 16)
        case Operation.GETATTR:
            root = (1, 0, 0, 0, 0, 0, 0, 0, 0, _DIRECTORY, 2, 0, 0, 0, 4096, 0)
            return 0, _ATTRIBUTES.pack(60, 0, 0, *root)
        case Operation.LOOKUP:
            return errno.ENOENT, b""
    return errno.EROFS, b""
