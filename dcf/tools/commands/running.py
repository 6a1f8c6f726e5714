"""One run of a program: no shell, an end in any case, and no more kept than a bounded piece."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio

MOST_BYTES = 64 * 1024
"""What is kept of each of the two outputs: the first of one, the last of the other."""
_CHUNK = 64 * 1024
_SWEEP_S = 2.0
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


@dataclass(frozen=True, slots=True)
class Finished:
    """How a run ended. ``exit_code`` is None where time ran out, and negative for a signal.
    ``stdout`` has the first and ``stderr`` the last bytes, as text; ``truncated``: there were
    more."""

    exit_code: int | None
    stdout: str
    stderr: str
    truncated: bool


def adopt_orphans() -> None:
    """What outlives the program that started it becomes a child of this process, on Linux: so that
    it can be found, and ended."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


async def run_program(
    executable: str,
    argv: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    timeout_s: float,
) -> Finished:
    """Run the file ``executable`` as ``argv`` to its end, or for ``timeout_s`` seconds. Whatever it
    has started is over with it. There is one run at a time. Raises OSError."""
    stdout, stderr = _First(), _Last()
    code: int | None = None
    # Pipes of our own: asyncio's wait for its pipes too, which whoever is left behind holds open.
    async with _pipe(stdout) as to_stdout, _pipe(stderr) as to_stderr:
        process = await asyncio.create_subprocess_exec(
            *argv,
            executable=executable,
            cwd=folder,
            env=dict(environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=to_stdout,
            stderr=to_stderr,
            start_new_session=True,
            preexec_fn=_end_with_parent if _LIBC is not None else None,
        )
        try:
            with anyio.move_on_after(timeout_s):
                code = await process.wait()
        finally:
            with anyio.CancelScope(shield=True):
                _end(process.pid)
                await process.wait()
                await _sweep()
    truncated = stdout.seen > MOST_BYTES or stderr.seen > MOST_BYTES
    return Finished(code, stdout.text, stderr.text, truncated)


class _First:
    """The first bytes of an output."""

    def __init__(self) -> None:
        self.kept = b""
        self.seen = 0

    def take(self, chunk: bytes) -> None:
        self.seen += len(chunk)
        self.kept += chunk[: MOST_BYTES - len(self.kept)]

    @property
    def text(self) -> str:
        return self.kept.decode(errors="replace")


class _Last(_First):
    """The last bytes of an output."""

    def take(self, chunk: bytes) -> None:
        self.seen += len(chunk)
        self.kept = (self.kept + chunk)[-MOST_BYTES:]


@asynccontextmanager
async def _pipe(kept: _First) -> AsyncIterator[int]:
    """The end that a program writes to; what it writes is read to the end, so that one which says
    much does not wait for a reader."""
    ours, theirs = os.pipe()
    stream = asyncio.StreamReader(limit=_CHUNK)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(ours, "rb")
    )
    reading = asyncio.create_task(_read(stream, kept))
    try:
        yield theirs
    finally:
        os.close(theirs)
        with anyio.CancelScope(shield=True), suppress(TimeoutError):
            await asyncio.wait_for(reading, _SWEEP_S)
        transport.close()


async def _read(stream: asyncio.StreamReader, kept: _First) -> None:
    while chunk := await stream.read(_CHUNK):
        kept.take(chunk)


def _end_with_parent() -> None:
    """In the new process: a server that is killed leaves no program behind."""
    assert _LIBC is not None
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _end(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


async def _sweep() -> None:
    """End what left the group of its program: by now it is a child of ours."""
    ends = time.monotonic() + _SWEEP_S
    while (left := _children()) and time.monotonic() < ends:
        for pid in left:
            _end_orphan(pid)
        await asyncio.sleep(0.005)


def _end_orphan(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def _children() -> list[int]:
    if _LIBC is None:
        return []
    ours = os.getpid()
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = entry.read_bytes().rpartition(b")")[2].split()
            if int(fields[1]) == ours:
                found.append(int(entry.parent.name))
    return found
