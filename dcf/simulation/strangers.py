"""Strangers: whoever was given a task token, and answers with nothing else in hand."""

from __future__ import annotations

import asyncio
import math
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress

from control_plane import Disconnected, Store
from dcf import asl
from dcf.simulation.behaviour import Behaviour
from dcf.simulation.fail_over import FailOver
from dcf.workflow import (
    TaskExpired,
    TaskSettled,
    TokenClaim,
    UnknownTaskToken,
    beat_task,
    fail_task,
    succeed_task,
)

_AGAIN_S = 0.3
_LATE_S = 10.0
_INSISTS = 6


class Strangers:
    """Answers tokens; ``open_store`` gives each stranger a connection of its own."""

    def __init__(
        self,
        open_store: Callable[[], Store],
        rng: random.Random,
        on_defect: Callable[[str], None],
        fail_over: FailOver,
    ) -> None:
        self._open_store = open_store
        self._rng = rng
        self._on_defect = on_defect
        self._fail_over = fail_over
        self._tasks: list[asyncio.Task[None]] = []
        self._moments: Counter[float] = Counter()

    @property
    def next_s(self) -> float:
        """When, by the loop's time, one of those who ``answer`` will say something."""
        return min(self._moments.elements(), default=math.inf)

    def hand(
        self,
        token: str,
        behaviour: Behaviour,
        attempt: int,
        event: asl.TaskSucceeded | asl.TaskFailed,
        *,
        timeout_s: float | None,
        heartbeat_s: float | None,
    ) -> None:
        """Give ``token`` to a stranger, who will say ``event`` when ``behaviour`` lets it."""
        work = self._answer(token, behaviour, attempt, event, timeout_s, heartbeat_s)
        task = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(self._over)
        self._tasks.append(task)

    def answer(self, token: str, answer: asl.Answer, *, heartbeat_s: float | None) -> None:
        """Give ``token`` to a stranger, who will say what ``answer`` says, when it says so."""
        work = self._say_in_time(token, answer, heartbeat_s)
        task = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(self._over)
        self._tasks.append(task)

    async def go(self) -> None:
        """No more answers."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _answer(
        self,
        token: str,
        behaviour: Behaviour,
        attempt: int,
        event: asl.TaskSucceeded | asl.TaskFailed,
        timeout_s: float | None,
        heartbeat_s: float | None,
    ) -> None:
        store = self._open_store()
        before = self._fail_over.number
        try:
            if behaviour.kind == "silent" and not behaviour.answers(attempt):
                # Its limit counts anew when the Task is taken over: no moment is surely too late.
                return
            if not behaviour.answers(attempt):
                await asyncio.sleep((timeout_s or 0.0) + self._rng.uniform(0, _LATE_S))
                await self._insist(before, lambda: self._say(store, token, event))
            elif heartbeat_s is not None:
                await self._beat(store, token, behaviour.seconds, heartbeat_s / 3)
            else:
                await asyncio.sleep(behaviour.seconds)
            if self._fail_over.number == before or behaviour.answers(attempt):
                await self._say(store, token, event)
        except (TaskSettled, TaskExpired):
            # Too late, or it was heard before though no answer came back.
            return
        except UnknownTaskToken:
            if self._fail_over.number == before:
                raise
            # The server forgot that it gave the token out.

    async def _say_in_time(self, token: str, answer: asl.Answer, heartbeat_s: float | None) -> None:
        store, before, passed_s = self._open_store(), self._fail_over.number, 0.0
        try:
            for moment in sorted(answer.heartbeats_s if answer.event is None else ()):
                await self._sleep(moment - passed_s)
                passed_s = moment
                await _until_heard(lambda: beat_task(store, token))
            if answer.event is None:
                return
            if heartbeat_s is not None:
                await self._beat(store, token, answer.after_s, heartbeat_s / 3)
            else:
                await self._sleep(answer.after_s)
            await self._say(store, token, answer.event)
        except (TaskSettled, TaskExpired):
            # Too late, or it was heard before though no answer came back.
            return
        except UnknownTaskToken:
            if self._fail_over.number == before:
                raise
            # The server forgot that it gave the token out.

    async def _sleep(self, seconds: float) -> None:
        moment = asyncio.get_running_loop().time() + seconds
        self._moments[moment] += 1
        try:
            await asyncio.sleep(seconds)
        finally:
            self._moments[moment] -= 1

    async def _insist(self, number: int, say: Callable[[], Awaitable[None]]) -> None:
        """Say again and again what came too late, until long after the next try began; no longer
        than ``number`` counts the fail-overs: a server may have forgotten that the Task began, and
        its limit counts anew then."""
        for _ in range(_INSISTS):
            if self._fail_over.number > number:
                return
            with suppress(TaskSettled, TaskExpired):
                await say()
            await asyncio.sleep(_LATE_S / _INSISTS)

    async def _say(
        self, store: Store, token: str, event: asl.TaskSucceeded | asl.TaskFailed
    ) -> None:
        if isinstance(event, asl.TaskFailed):
            error, cause = event.error, event.cause
            await self._surely(lambda: fail_task(store, token, error, cause))
        else:
            result = event.result
            await self._surely(lambda: succeed_task(store, token, result))

    async def _beat(self, store: Store, token: str, seconds: float, every_s: float) -> None:
        while seconds > every_s:
            await self._sleep(every_s)
            seconds -= every_s
            await _until_heard(lambda: beat_task(store, token))
        await self._sleep(seconds)

    async def _surely(self, act: Callable[[], Awaitable[TokenClaim]]) -> None:
        await self._fail_over.surely(lambda: _until_heard(act))

    def _over(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._on_defect(f"a stranger broke: {error!r}")


async def _until_heard(act: Callable[[], Awaitable[TokenClaim]]) -> None:
    while True:
        try:
            await act()
        except Disconnected:
            await asyncio.sleep(_AGAIN_S)
        else:
            return
