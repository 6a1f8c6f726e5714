"""The solo processes of a worker, each for one suspect state: found, and held by a descriptor."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PROC = Path("/proc")


def why_not() -> str:
    """Why solo processes cannot be found on this machine; "" where they can."""
    if not hasattr(signal, "pidfd_send_signal"):
        return "the system has no descriptors of processes"
    if not (_PROC / "self" / "task" / str(os.getpid()) / "children").exists():
        return "the system does not list the children of a process"
    return ""


def solos_of(worker: int) -> list[int]:
    """The ids of the solo processes of the process ``worker`` that are up, or nearly: one that is
    still importing has no state yet, and a fault of it tests little."""
    return [child for child in _children(worker) if _is_solo(child) and _has_threads(child)]


class Held:
    """A process that gets signals by its descriptor, and so no other one that has its id later."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def send(self, sent: signal.Signals) -> bool:
        """Whether it is still there to get it."""
        try:
            signal.pidfd_send_signal(self._descriptor, sent)
        except ProcessLookupError:
            return False
        return True


@contextmanager
def held(solo: int, worker: int) -> Iterator[Held | None]:
    """The solo process ``solo`` of ``worker``; None where it has ended."""
    try:
        descriptor = os.pidfd_open(solo)
    except ProcessLookupError:
        yield None
        return
    try:
        # Looked at again: its id may have been given to another process before it was opened.
        yield Held(descriptor) if solo in solos_of(worker) else None
    finally:
        os.close(descriptor)


def _children(process: int) -> list[int]:
    found: list[int] = []
    # A thread may end meanwhile, and the process too.
    with suppress(OSError):
        for thread in (_PROC / str(process) / "task").iterdir():
            with suppress(OSError):
                found += map(int, (thread / "children").read_text().split())
    return found


def _has_threads(process: int) -> bool:
    # The first one beside the main thread is begun by what it works with.
    try:
        return len(list((_PROC / str(process) / "task").iterdir())) > 1
    except OSError:
        return False


def _is_solo(process: int) -> bool:
    try:
        return b"--solo" in (_PROC / str(process) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
