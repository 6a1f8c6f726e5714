"""How a process that works is told to end, and does, whatever its work does meanwhile."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, Protocol, TypeVar

log = logging.getLogger(__name__)

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
# What is told to stop at once has this long for it.
_AT_ONCE_S = 2.0
# When its starter is gone, a process drains as after a signal, and nobody sends it a second one.
_LEFT_ALONE_S = 30.0
_CUT_SHORT = 130
_FAILED = 1
_WORDS_S = 1.0
_LOOKS_S = 1.0
_T = TypeVar("_T")


class Drainable(Protocol):
    """What works until it is told to stop."""

    @property
    def name(self) -> str: ...

    @property
    def busy(self) -> int:
        """How much is in work."""
        ...

    @property
    def held(self) -> list[str]:
        """What is in work, for people."""
        ...

    def drain(self) -> None: ...

    async def run(self) -> None: ...


async def until_told(
    worker: Drainable,
    on_ready: Callable[[], None],
    *,
    attached: bool,
    heeds_signals: bool = True,
) -> bool:
    """Run ``worker``: the first signal drains it, the second stops it at once; False then, and
    where its own work cancels it. Work that lets nothing else run in its thread is abandoned with
    the process 2 s after the second, unless it is native code that keeps the interpreter to itself:
    that ends by SIGKILL alone. With ``attached`` the end of standard input, a pipe, drains it too,
    and ends it 30 s later. With ``heeds_signals`` False signals are noted in the log only."""
    loop = asyncio.get_running_loop()
    work = asyncio.create_task(worker.run())
    told = 0

    def abandon_in(seconds: float) -> None:
        timer = threading.Timer(seconds, _abandon, [worker, work])
        timer.daemon = True
        timer.start()

    def stop(reason: str) -> None:
        if told > 1:
            log.warning("%s: %s again, stopping at once", worker.name, reason)
            work.cancel()
            return
        log.info("%s: %s, finishing %d states in work", worker.name, reason, worker.busy)
        worker.drain()

    def on_signal(number: int) -> None:
        nonlocal told
        if not heeds_signals:
            log.warning("%s: %s ignored", worker.name, signal.Signals(number).name)
            return
        told += 1
        if told == 2:
            abandon_in(_AT_ONCE_S)
        # The loop may be closed.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(stop, signal.Signals(number).name)

    def starter_gone() -> None:
        nonlocal told
        if not told:
            told = 1
            stop("its starter is gone")

    def watch_starter() -> None:
        # Nothing is ever written to the pipe: what can be read is its end. In a thread, as signals
        # are heard.
        os.read(stdin, 1)
        abandon_in(_LEFT_ALONE_S)
        # The loop may be closed.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(starter_gone)

    if attached:
        stdin = sys.stdin.fileno()
        threading.Thread(target=watch_starter, name="starter", daemon=True).start()
    with _hearing(on_signal):
        on_ready()
        try:
            await work
        except asyncio.CancelledError:
            if told < 2:
                cause = "as a handler does that cancels all tasks of the event loop"
                log.error("%s: its own task was cancelled, %s; it ends", worker.name, cause)
            return False
    return True


@contextmanager
def _hearing(on_signal: Callable[[int], None]) -> Iterator[None]:
    """Call ``on_signal`` in a thread of its own. Neither in the loop nor by a handler of Python's:
    while work blocks the main thread, the one runs nothing, and in native code the other waits."""
    heard, said = socket.socketpair()

    def listen() -> None:
        with heard:
            while numbers := heard.recv(64):
                for number in numbers:
                    if number in _SIGNALS:
                        on_signal(number)

    said.setblocking(False)
    wakeup = signal.set_wakeup_fd(said.fileno(), warn_on_full_buffer=False)
    before = {number: signal.signal(number, lambda *_: None) for number in _SIGNALS}
    threading.Thread(target=listen, name="signals", daemon=True).start()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(wakeup)
        said.close()


def run_to_its_end(main: Coroutine[Any, Any, _T]) -> _T:
    """``asyncio.run``, but what is raised in one of the tasks to end the process, and that nobody
    awaits there, ends that task alone: Tasks are worked on by code of others. What of it does not
    end with ``main``, as a thread in which a handler blocks, is abandoned with the process after
    2 s. Where such code took the loop itself away, the process ends at once, and says so. What it
    forks ends with the process."""
    _end_forks_with(os.getpid())
    leaving = threading.Timer(_AT_ONCE_S, _leave)
    leaving.daemon = True
    try:
        with asyncio.Runner() as runner:
            loop = runner.get_loop()
            task = loop.create_task(main)
            while True:
                try:
                    return loop.run_until_complete(task)
                except (SystemExit, KeyboardInterrupt) as error:
                    if task.done() or _is_from_keyboard(error):
                        raise
                    log.warning("a task raised %s: it ended, nothing else", type(error).__name__)
                except (RuntimeError, OSError) as error:
                    if (said := _taken_away(error, task)) is not None:
                        # What a Runner does at its end needs the loop.
                        _end(_FAILED, said)
                    raise
                finally:
                    if task.done():
                        leaving.start()
    finally:
        leaving.cancel()


def _end_forks_with(process: int) -> None:
    """End what ``process`` forks soon after its own end: that holds copies of its connections, and
    who forked it may die before it can end it. What that forks in turn is left alone."""
    forker = process

    def note_forker() -> None:
        nonlocal forker
        forker = os.getpid()

    def watch() -> None:
        while os.getppid() == process:
            time.sleep(_LOOKS_S)
        os._exit(_FAILED)

    def begin_watch() -> None:
        # The parent may have died since.
        if forker == process:
            threading.Thread(target=watch, name="forked", daemon=True).start()

    os.register_at_fork(before=note_forker, after_in_child=begin_watch)


def _taken_away(error: RuntimeError | OSError, main: asyncio.Task[Any]) -> str | None:
    """What became of the loop under ``main``; None for an error of main's own."""
    if isinstance(error, OSError) and (error.errno == errno.EBADF or not main.done()):
        return (
            f"the event loop cannot go on ({error.strerror}): a handler, or what it uses, closed "
            "file descriptors of this process that it had not opened; the process ends"
        )
    if isinstance(error, RuntimeError) and not main.done():
        return (
            "a handler, or what it uses, stopped the event loop that all work here shares "
            "(loop.stop()); the process ends"
        )
    return None


def _is_from_keyboard(error: BaseException) -> bool:
    """Whether Ctrl-C raised it, which it does as long as nobody else has asked for the signal."""
    ours = signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    return isinstance(error, KeyboardInterrupt) and not ours


def _leave() -> None:
    _end(_CUT_SHORT, "work of a Task, which was given back or is over, does not end; abandoned")


def _abandon(worker: Drainable, work: asyncio.Task[None]) -> None:
    if work.done():
        return
    held = ", ".join(worker.held) or "nothing that is known"
    _end(_CUT_SHORT, "%s: does not end; abandoned in work: %s", worker.name, held)


def _end(status: int, *said: str) -> NoReturn:
    """End the process with ``status`` and these words, or without them where nobody reads: the pipe
    may be full, and whoever waits to write there may be what does not end."""
    words = threading.Thread(target=log.error, args=said, daemon=True)
    words.start()
    words.join(_WORDS_S)
    os._exit(status)
