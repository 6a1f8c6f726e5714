"""A worker process for one state: whatever it dies of, nothing else is lost, and its death is seen.

It is started before the state is leased, so that its start takes nothing of the state's time. On
its standard output it says that it is up, then that it has begun, and at last that it ends in
order: whatever was not said was no word of it. On its standard input it gets a line at once, its
assignment as the second one, and the end of it when whoever watches it is gone.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from typing import Self, TextIO

from control_plane import Disconnected, Lease, Refusal, Store
from dcf.secret_form import without_secrets
from dcf.worker.grace import GRACE_S, End, end_of
from dcf.worker.keeper import LeaseKeeper
from dcf.worker.kept_work import KeptLease

log = logging.getLogger(__name__)

# A process that could not run is charged to its state after all, once more leases of this try than
# these have ended without a word.
_MOST_SPARED = 5
# A process that was told to end gives its lease back meanwhile.
_ENDING_S = 0.8
_AGAIN_S = 2.0
# A process that does not come up is started again after two seconds, four, eight, and so on.
_LONGEST_AGAIN_S = 60.0
_UP_S = 60.0
_BEGIN_S = 30.0
_LOOKS_S = 1.0
_LONGEST_LINE = 1 << 20
_SHOWN = 200
_HELLO = b"hello\n"
_UP = "up"
_BEGUN = "begun"
_OVER = "over"


class SoloProcesses:
    """Starts ``command``, a worker that takes its assignment from its input, once for each state.
    ``keeper`` keeps a lease until the process does."""

    def __init__(self, command: Sequence[str], store: Store, keeper: LeaseKeeper) -> None:
        self._command = tuple(command)
        self._store = store
        self._keeper = keeper
        self._failed = 0

    async def start(self, state: str) -> SoloProcess | None:
        """A process that is up, to work on ``state`` (for the log). None where none comes up: that
        is told, and then waited for, longer each time."""
        async with AsyncExitStack() as stack:
            try:
                process, lines = await self._started(stack)
                why = await _came_up(process, lines)
            except OSError as error:
                why = str(error)
            if not why:
                self._failed = 0
                return SoloProcess(process, lines, self._store, self._keeper, stack.pop_all())
        # A day of failures is no power of two that a float can hold.
        again_s = min(_AGAIN_S * 2 ** min(self._failed, 10), _LONGEST_AGAIN_S)
        self._failed += 1
        log.error(
            "%s waits for a process of its own, which did not come up: %s; tried %d times, again "
            "in %.0f s", state, why, self._failed, again_s,
        )  # fmt: skip
        await asyncio.sleep(again_s)
        return None

    async def _started(self, stack: AsyncExitStack) -> tuple[Process, LastLine]:
        lines = await stack.enter_async_context(LastLine(sys.stderr))
        loop = asyncio.get_running_loop()
        # Not `create_subprocess_exec`, whose process cannot be closed: where something that it
        # started holds its standard output, the pipe of that would stay open.
        transport, protocol = await loop.subprocess_exec(
            lambda: SubprocessStreamProtocol(_LONGEST_LINE, loop),
            *self._command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=lines.inlet,
            # Its own end of that pipe: what its work prints does not fail when this process is
            # gone.
            pass_fds=(lines.outlet,),
            # What is sent to all of its group, by its Task or by a terminal, stays there.
            start_new_session=True,
        )
        stack.callback(transport.close)
        process = Process(transport, protocol, loop)
        stack.push_async_callback(_ended, process)
        lines.close_inlet()
        return process, lines


class SoloProcess:
    """A process that is up, for the state of one lease. To be closed, whether it had one or not."""

    def __init__(
        self,
        process: Process,
        lines: LastLine,
        store: Store,
        keeper: LeaseKeeper,
        stack: AsyncExitStack,
    ) -> None:
        self._process = process
        self._lines = lines
        self._store = store
        self._keeper = keeper
        self._stack = stack

    async def close(self) -> None:
        """End the process, if it has not ended."""
        await self._stack.aclose()

    async def __call__(self, lease: Lease) -> str | None:
        """Have the state of ``lease`` worked on; how the process died, or None where it did not
        begin, ended in order, or was kept from running. Raises LeaseLost when the lease was lost
        before it began."""
        process = self._process
        with KeptLease(self._keeper, lease):
            if not await _begin(process, lease):
                await _ended(process)
                await asyncio.sleep(_AGAIN_S)
                return None
        end = await self._end(lease)
        if end != "ended":
            with suppress(ProcessLookupError):
                process.kill()
        await process.wait()
        if await _said_over(process):
            return None
        if end == "hung":
            return f"it lost its lease and did not end within {GRACE_S:.0f} s"
        if end == "ended":
            return f"{exit_of(process.returncode or 0)}{await self._lines.last()}"
        log.warning(
            "%s of %s: its process lost its lease and %s: killed, and charged to nobody",
            lease.path, lease.workflow_id, end,
        )  # fmt: skip
        return None

    async def _end(self, lease: Lease) -> End:
        """Wait for its end, for as long as it keeps its lease, and a little longer."""
        process = self._process
        # A death can be told until the next lease has ended too.
        looks_s = max(_LOOKS_S, lease.ttl_ms / 3000)
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), looks_s)
                return "ended"
            try:
                held = await self._store.held(lease.workflow_id, lease.path, lease.token)
            except Disconnected:
                # It waits for Redis itself.
                continue
            if isinstance(held, Refusal):
                return await end_of(process, spare=lease.takeovers <= _MOST_SPARED)


class LastLine:
    """Passes on to ``out`` what is written into ``inlet``, a file descriptor for a standard error,
    and keeps the last line of it. Both ends of the pipe are closed with this."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._last = ""
        self.outlet, self.inlet = os.pipe()
        self._reading: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        lines = asyncio.StreamReader(limit=_LONGEST_LINE)
        self._transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(lines), os.fdopen(self.outlet, "rb", 0)
        )
        self._reading = asyncio.create_task(self._read(lines))
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close_inlet()
        if self._reading is not None:
            self._reading.cancel()
        self._transport.close()

    def close_inlet(self) -> None:
        """Once the process has it: the end of that one is then the end of the lines."""
        if self.inlet >= 0:
            os.close(self.inlet)
            self.inlet = -1

    async def last(self) -> str:
        """``, last line "…"`` without secrets, or nothing where it said nothing. To be asked once
        it has ended: what it started may still hold its standard error, and is not waited for."""
        if self._reading is not None:
            await asyncio.wait([self._reading], timeout=_ENDING_S)
        said = without_secrets(self._last)
        return f", last line {json.dumps(said, ensure_ascii=False)}" if said else ""

    async def _read(self, lines: asyncio.StreamReader) -> None:
        while True:
            try:
                line = await lines.readline()
            except ValueError:
                # Longer than the limit: what was read of it is gone.
                continue
            if not line:
                return
            text = line.decode(errors="replace")
            self._out.write(text)
            self._out.flush()
            self._last = text.strip()[-_SHOWN:] or self._last


def exit_of(status: int) -> str:
    """How a process ended, for people: ``exit by signal 9 (SIGKILL)``."""
    if status >= 0:
        return f"exit with status {status}"
    try:
        return f"exit by signal {-status} ({signal.Signals(-status).name})"
    except ValueError:
        return f"exit by signal {-status}"


def assignment_of(line: str) -> tuple[str, str, str]:
    """Run, path and token of the assignment that ``line`` is."""
    said = json.loads(line)
    return said["run"], said["path"], said["token"]


class Words:
    """What a process for one state says of itself on its standard output; what else is written
    there, by its work, goes to the standard error from now on."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._out = os.dup(1)
        os.dup2(2, 1)

    def up(self) -> None:
        """It is up, and takes an assignment."""
        self._say(_UP)

    def begun(self) -> None:
        """It takes over from whoever started it."""
        self._say(_BEGUN)

    def over(self) -> None:
        """It ends in order: the state is done, given back, or others have it."""
        self._say(_OVER)

    def _say(self, word: str) -> None:
        # Whoever would hear it may be gone.
        with suppress(BrokenPipeError):
            os.write(self._out, f"{word}\n".encode())


async def _came_up(process: Process, lines: LastLine) -> str:
    """Wait until it is up; "", or why it is not."""
    assert process.stdin is not None
    try:
        process.stdin.write(_HELLO)
        await process.stdin.drain()
        async with asyncio.timeout(_UP_S):
            if await _said(process, _UP):
                return ""
            await process.wait()
    except ConnectionError:
        await process.wait()
    except TimeoutError:
        return f"it said nothing for {_UP_S:.0f} s"
    return f"{exit_of(process.returncode or 0)}{await lines.last()}"


async def _begin(process: Process, lease: Lease) -> bool:
    """Give it its assignment; whether it said that it begins."""
    assert process.stdin is not None and process.stdout is not None
    said = {"run": lease.workflow_id, "path": lease.path, "token": lease.token}
    try:
        process.stdin.write(f"{json.dumps(said)}\n".encode())
        await process.stdin.drain()
        async with asyncio.timeout(_BEGIN_S):
            return await _said(process, _BEGUN)
    except (ConnectionError, TimeoutError):
        return False


async def _said(process: Process, word: str) -> bool:
    """Whether the next that it says is ``word``."""
    assert process.stdout is not None
    return await process.stdout.readline() == f"{word}\n".encode()


async def _said_over(process: Process) -> bool:
    """Whether a process that has ended said that its work is over: that is in the pipe by now. What
    it started may still hold its standard output, and is not waited for."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_ENDING_S):
            return await _said(process, _OVER)
    return False


async def _ended(process: Process) -> None:
    """End it, if it has not ended: in order, or else at once."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(_ENDING_S):
            await process.wait()
    except TimeoutError:
        log.warning("worker process %d did not end in order, and is killed", process.pid)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
