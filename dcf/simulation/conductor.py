"""The conductor of a simulated session: orders, takes back, dismisses, ends, and says again what
was not heard."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial

from control_plane import SessionExists
from dcf.sessions import (
    CompanionExists,
    NewCompanion,
    NotOpen,
    Order,
    Session,
    Sessions,
    TaskOver,
    UnknownCompanion,
    UnknownTask,
)
from dcf.simulation.host_life import Doing
from dcf.simulation.network import until_heard

SESSION, ME = "session", "conductor"
_NAMES = ("ada", "bob", "eve")
_LOOK_S = 2.0
_LONGEST_S = 60.0


class Conductor:
    """Orders the tasks of ``does``, by their ids. ``accepted`` are those that the session took;
    ``late`` is what became of an order that came after the end of the session was heard."""

    def __init__(self, sessions: Sessions, rng: random.Random, does: Mapping[str, Doing]) -> None:
        self._sessions = sessions
        self._rng = rng
        self._does = does
        self._names = _NAMES[: rng.randint(1, 3)]
        self.accepted: list[str] = []
        self.late = ""

    async def act(self) -> Session:
        """From the beginning of the session to its end; as it is then."""
        sessions = self._sessions
        with suppress(SessionExists):
            await until_heard(lambda: sessions.create(SESSION, ME, "help"))
        for name in self._names:
            with suppress(CompanionExists):
                employ = partial(sessions.employ, SESSION, NewCompanion(ME, name=name))
                await until_heard(employ)
        for task_id in self._does:
            await asyncio.sleep(self._rng.choice((0.0, 0.0, 1.0, 6.0)))
            # The one that it is for may have been dismissed.
            with suppress(UnknownCompanion):
                await until_heard(partial(sessions.delegate, SESSION, self._order(task_id)))
                self.accepted.append(task_id)
            if self.accepted:
                await self._change_its_mind()
        await asyncio.sleep(self._rng.choice((0.0, 5.0, 30.0)))
        cancel = self._rng.random() < 0.3
        await until_heard(lambda: sessions.end(SESSION, by=ME, cancel=cancel))
        try:
            order = Order("too late", ME, task_id="late")
            self.late = (await until_heard(lambda: sessions.delegate(SESSION, order))).status
        except NotOpen:
            self.late = "refused"
        return await self._ended()

    def _order(self, task_id: str) -> Order:
        companion_id = after = None
        if self._rng.random() < 0.3:
            companion_id = f"companion-{self._rng.choice(self._names)}"
        if self.accepted and self._rng.random() < 0.3:
            after = (self._rng.choice(self.accepted),)
        timeout_s = self._rng.choice((20.0, _LONGEST_S, _LONGEST_S))
        return Order(
            task_id,
            ME,
            task_id=task_id,
            companion_id=companion_id,
            after=after or (),
            timeout_s=timeout_s,
        )

    async def _change_its_mind(self) -> None:
        """About a task or a companion, now and then."""
        sessions, task_id = self._sessions, self._rng.choice(self.accepted)
        gone = f"companion-{self._rng.choice(self._names)}"
        acts: dict[Callable[[], Awaitable[object]] | None, int] = {
            None: 12,
            (lambda: sessions.cancel(SESSION, task_id, by=ME)): 1,
            (lambda: sessions.redelegate(SESSION, task_id, None, by=ME)): 2,
            (lambda: sessions.dismiss(SESSION, gone, by=ME)): 1,
        }
        [act] = self._rng.choices(list(acts), list(acts.values()))
        # One that is over, or was heard before.
        with suppress(TaskOver, UnknownTask, UnknownCompanion):
            if act is not None:
                await until_heard(act)

    async def _ended(self) -> Session:
        while True:
            session = await until_heard(lambda: self._sessions.get(SESSION))
            if session.is_over:
                return session
            await asyncio.sleep(_LOOK_S)
