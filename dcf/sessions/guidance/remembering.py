"""Asking for the past without waiting for who does not answer."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Collection

from dcf.sessions.guidance.past import History, Past

WAIT_S = 2.0
"""So long an analysis waits for the past. What comes later is there for the next one."""
AGAIN_S = 60.0
"""So long nobody asks again after there was no answer."""
_KEPT = 1_000
_Key = tuple[str, frozenset[str]]


class Remembering:
    """The past of sessions, asked for once: it does not change while they last."""

    def __init__(
        self,
        past: Past,
        *,
        wait_s: float = WAIT_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._past = past
        self._wait_s = wait_s
        self._monotonic = monotonic
        self._known: OrderedDict[_Key, History] = OrderedDict()
        self._asked: dict[_Key, asyncio.Task[History]] = {}
        self._quiet_until = 0.0

    async def of(
        self, session_id: str, task_types: Collection[str], *, before: int
    ) -> tuple[History, str | None]:
        """What is known; without an answer nothing, and why."""
        key = (session_id, frozenset(task_types))
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key], None
        asked = self._asked.get(key)
        if asked is None:
            if self._monotonic() < self._quiet_until:
                return History(), "other sessions are not known: there was no answer lately"
            question = self._past.of(session_id, sorted(key[1]), before=before)
            asked = self._asked[key] = asyncio.ensure_future(question)
            asked.add_done_callback(_heard)
        await asyncio.wait([asked], timeout=self._wait_s)
        if not asked.done():
            self._quiet_until = self._monotonic() + AGAIN_S
            return History(), f"other sessions are not known: no answer in {self._wait_s:g} s"
        self._asked.pop(key, None)
        failed = asked.exception()
        if failed is not None:
            self._quiet_until = self._monotonic() + AGAIN_S
            return History(), f"other sessions are not known: {failed}"
        self._known[key] = asked.result()
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return self._known[key], None

    async def close(self) -> None:
        """Wait for nobody any more."""
        asked = list(self._asked.values())
        self._asked.clear()
        for one in asked:
            one.cancel()
        await asyncio.gather(*asked, return_exceptions=True)


def _heard(asked: asyncio.Task[History]) -> None:
    """What fails when nobody waits any more is no news."""
    if not asked.cancelled():
        asked.exception()
