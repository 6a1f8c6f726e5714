"""Delivers the messages that wait in inboxes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

from dcf.agents.messaging.inbox import Inbox
from dcf.agents.task_error import TaskError
from dcf.memory import (
    SYSTEM,
    Letter,
    LetterLost,
    MemoryProblem,
    UnknownAgent,
    UnknownLetter,
)

_log = logging.getLogger(__name__)
_BY = SYSTEM.because("delivering messages")
_AT_ONCE = 8
LEASE_S = 30.0


class Postman:
    """Takes letters and has each answered by ``work``, which keeps its answer or failure itself.

    Several agents work at once, each on one letter. ``lease_s`` is how long a letter stays with a
    process that has gone away.
    """

    def __init__(
        self,
        inbox: Inbox,
        work: Callable[[Letter], Awaitable[object]],
        *,
        lease_s: float = LEASE_S,
    ) -> None:
        self._inbox = inbox
        self._work = work
        self._lease_s = lease_s
        self._tasks: set[asyncio.Task[None]] = set()
        self._round: asyncio.Task[None] | None = None
        self._again = False
        self._closed = False

    def wake(self) -> None:
        """There may be letters: deliver them, in the background."""
        self._again = True
        if self._closed or (self._round is not None and not self._round.done()):
            return
        self._round = asyncio.create_task(self._deliver())

    async def aclose(self) -> None:
        """Stop. Letters that are being worked on are given back."""
        self._closed = True
        if self._round is not None:
            # Not cancelled: a letter that is being taken would stay with nobody.
            await asyncio.wait([self._round])
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _deliver(self) -> None:
        while self._again and not self._closed and len(self._tasks) < _AT_ONCE:
            self._again = False
            try:
                letter = await self._inbox.take(by=_BY, lease_ms=self._lease_ms)
            except MemoryProblem as problem:
                _log.error("messages wait: %s", problem)
                return
            if letter is None:
                # Unless there were more meanwhile.
                continue
            if self._closed:
                await self._give_back(letter)
                return
            self._again = True
            task = asyncio.create_task(self._answer(letter))
            self._tasks.add(task)
            task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("a message could not be answered", exc_info=error)
        self.wake()

    async def _answer(self, letter: Letter) -> None:
        work = asyncio.ensure_future(self._work(letter))
        held = asyncio.create_task(self._hold(letter, work))
        try:
            await work
        except TaskError as failure:
            _log.info("message %s failed: %s", letter.id, failure)
        except (LetterLost, UnknownLetter, UnknownAgent) as gone:
            _log.warning("message %s: %s", letter.id, gone)
        except asyncio.CancelledError:
            work.cancel()
            await self._give_back(letter)
            raise
        except Exception as error:
            cause = f"{type(error).__name__}: {error}"
            with contextlib.suppress(LetterLost, UnknownLetter):
                await self._inbox.fail(letter, "States.TaskFailed", cause, by=_BY)
            raise
        finally:
            held.cancel()

    async def _give_back(self, letter: Letter) -> None:
        # Lost to somebody else, or gone with its agent: then there is nothing to give back.
        with contextlib.suppress(MemoryProblem):
            await asyncio.shield(self._inbox.give_back(letter, by=_BY))

    async def _hold(self, letter: Letter, work: asyncio.Future[object]) -> None:
        """Keep the letter while it is worked on; stop the work once somebody else has it."""
        while True:
            await asyncio.sleep(self._lease_s / 3)
            try:
                await self._inbox.keep(letter, by=_BY, lease_ms=self._lease_ms)
            except (LetterLost, UnknownLetter):
                work.cancel()
                return
            except MemoryProblem as problem:
                _log.warning("message %s may be given to another: %s", letter.id, problem)

    @property
    def _lease_ms(self) -> int:
        return round(self._lease_s * 1000)
