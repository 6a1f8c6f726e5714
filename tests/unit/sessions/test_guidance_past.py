"""Asking for the past: who does not answer holds nobody up, and what comes late is not lost."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from dcf.advisors.strategist import CompanionHistory
from dcf.evidence import Record
from dcf.sessions.guidance.past import History
from dcf.sessions.guidance.remembering import AGAIN_S, Remembering

KNOWN = History(companions=(CompanionHistory("refund", "billing", Record(8, 2, 10)),))


class Slow:
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.answer = asyncio.Event()
        self.asked = 0
        self.ended = False

    async def of(self, _: str, __: Collection[str], *, before: int) -> History:
        self.asked += 1
        try:
            await self.answer.wait()
        finally:
            self.ended = True
        assert before == 7
        return KNOWN


async def test_what_comes_late_is_there_for_the_next_one() -> None:
    slow = Slow()
    remembering = Remembering(slow, wait_s=0.01)
    history, why = await remembering.of("s1", ["refund"], before=7)
    assert (history, why) == (History(), "other sessions are not known: no answer in 0.01 s")
    slow.answer.set()
    assert await remembering.of("s1", ["refund"], before=7) == (KNOWN, None)
    assert await remembering.of("s1", ["refund"], before=7) == (KNOWN, None)
    assert slow.asked == 1


async def test_who_does_not_answer_is_left_alone_for_a_while() -> None:
    slow, now = Slow(), [0.0]
    remembering = Remembering(slow, wait_s=0.01, monotonic=lambda: now[0])
    await remembering.of("s1", ["refund"], before=7)
    history, why = await remembering.of("s2", ["refund"], before=7)
    assert (history, slow.asked) == (History(), 1)
    assert why is not None and "no answer lately" in why
    now[0] = AGAIN_S + 1
    slow.answer.set()
    assert await remembering.of("s2", ["refund"], before=7) == (KNOWN, None)


async def test_other_kinds_of_task_are_asked_for_anew() -> None:
    slow = Slow()
    slow.answer.set()
    remembering = Remembering(slow)
    for types in (["refund"], ["refund", "look"], ["look", "refund"]):
        assert await remembering.of("s1", types, before=7) == (KNOWN, None)
    assert slow.asked == 2


async def test_what_nobody_waits_for_ends_with_it() -> None:
    slow = Slow()
    remembering = Remembering(slow, wait_s=0.01)
    await remembering.of("s1", ["refund"], before=7)
    await remembering.close()
    assert slow.ended
