"""Working through the queue: a model is asked about one event after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, TypeAlias

from dcf.memory.actor import Actor
from dcf.memory.errors import InvalidEntry
from dcf.memory.extraction import standing
from dcf.memory.extraction.answer import parse_observations
from dcf.memory.extraction.asking import Answer, AskDenied, Asker, AskFailed, AskPostponed
from dcf.memory.extraction.claims import Claim
from dcf.memory.extraction.errors import BudgetUsedUp, ClaimLost, RateReached
from dcf.memory.extraction.prompt import Prompt, SourceEvent, prompt_for
from dcf.memory.extraction.queue import ExtractionQueue
from dcf.memory.extraction.trimming import cut, one_line
from dcf.memory.ledger import Ledger
from dcf.memory.observation import NewObservation
from dcf.stopping import stop

BY = Actor("system", "dcf", "observations by a model")
_AGAIN_MS = 60_000
"""An event whose answer could not be used comes again after that."""
_REASON_CHARS = 300

Read: TypeAlias = Callable[[Claim], Awaitable[SourceEvent | None]]
"""What happened in a claimed event; None where there is nothing to ask about (any more)."""
End: TypeAlias = Literal["empty", "limit", "budget", "paused", "stopped"]
"""Why the work ended: no event may be taken now, as many as were wanted are done, a budget is used
up, the provider is busy, or it refuses."""


@dataclass(slots=True)
class Work:
    """What was done, and why no more. ``again_at`` (ms) is when there may be more to do."""

    done: int = 0
    observations: int = 0
    failed: int = 0
    set_aside: list[str] = field(default_factory=list)
    """Reasons, each with its event."""
    end: End = "empty"
    reason: str = ""
    again_at: int | None = None

    @property
    def events(self) -> int:
        """Events that were worked on."""
        return self.done + self.failed

    def add(self, more: Work) -> None:
        """What was done after it; how that ended is how all of it ended."""
        self.done += more.done
        self.observations += more.observations
        self.failed += more.failed
        self.set_aside += more.set_aside
        self.end, self.reason, self.again_at = more.end, more.reason, more.again_at


class Extractor:
    """Works through a queue. Any number of processes may do so at once; each event is one's.

    Whatever dies, each event yields its observations once: they are kept in the transaction that
    ends it. A model may be asked about it more than once.
    """

    def __init__(
        self,
        ledger: Ledger,
        queue: ExtractionQueue,
        asker: Asker,
        read: Read,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._ledger = ledger
        self._queue = queue
        self._asker = asker
        self._read = read
        self._sleep = sleep

    async def run(
        self, *, limit: int | None = None, tell: Callable[[Work], object] = lambda _: None
    ) -> Work:
        """Work until the queue is empty, ``limit`` events were worked on, or no model may be asked;
        ``tell`` is called after each event."""
        work = Work()
        while await self._may_go_on(work, limit):
            claim = await self._queue.claim(by=BY)
            if claim is None:
                work.end, due = "empty", (await self._queue.counts()).due
                work.again_at = due if due and due > self._ledger.clock() else None
                return work
            if not await self._worked_on(claim, work):
                return work
            tell(work)
        return work

    async def _may_go_on(self, work: Work, limit: int | None) -> bool:
        now = await self._standing()
        if now.is_stopped:
            work.end, work.reason = "stopped", now.stopped_reason
        elif now.is_paused(self._ledger.clock()):
            work.end, work.reason = "paused", now.paused_reason
            work.again_at = now.paused_until
        elif limit is not None and work.events >= limit:
            work.end = "limit"
        else:
            return True
        return False

    async def _standing(self) -> standing.Standing:
        """How it stands; a stop that was for another model or key is over."""
        now = await self._ledger.read(standing.standing_of)
        if now.is_stopped and now.stopped_for != self._asker.identity:
            await self._ledger.change(BY, standing.resume)
            return await self._ledger.read(standing.standing_of)
        return now

    async def _worked_on(self, claim: Claim, work: Work) -> bool:
        """Bring one event forward; whether more may be done now."""
        try:
            await self._asked_about(claim, work)
        except ClaimLost:
            # Another process has it: it was this one's for too long.
            pass
        except (AskFailed, InvalidEntry) as error:
            await self._fail(claim, work, str(error))
        except RateReached as error:
            await self._queue.give_back(claim, by=BY)
            await self._sleep(max(error.again_at - self._ledger.clock(), 0) / 1000)
        except BudgetUsedUp as error:
            await self._queue.give_back(claim, by=BY)
            work.end, work.reason, work.again_at = "budget", str(error), error.again_at
            return False
        except AskPostponed as error:
            await self._postpone(claim, str(error), error.asked_s)
        except AskDenied as error:
            await self._stop(claim, _short(str(error)))
        except BaseException:
            # Ctrl-C, or what was to be read is out of reach: others need not wait for the lease.
            with suppress(ClaimLost):
                await self._queue.give_back(claim, by=BY)
            raise
        return True

    async def _asked_about(self, claim: Claim, work: Work) -> None:
        event = await self._read(claim)
        found: tuple[NewObservation, ...] = ()
        if event is not None:
            prompt = prompt_for(event)
            answer = await self._answer(claim, prompt)
            await self._ledger.change(BY, standing.note_answer)
            found = _found(answer, prompt, event)
        kept = await self._queue.complete(claim, *found, by=BY)
        work.done += 1
        work.observations += len(kept)

    async def _answer(self, claim: Claim, prompt: Prompt) -> Answer:
        """What the model says, while the claim is held. Raises ClaimLost and what ``ask`` does."""
        asking = asyncio.ensure_future(self._asker.ask(prompt))
        holding = asyncio.ensure_future(self._hold(claim))
        try:
            await asyncio.wait({asking, holding}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                holding.result()
            return asking.result()
        finally:
            await stop(asking, holding)

    async def _hold(self, claim: Claim) -> None:
        while True:
            await asyncio.sleep(self._queue.lease_ms / 3_000)
            await self._queue.hold(claim, by=BY)

    async def _fail(self, claim: Claim, work: Work, reason: str) -> None:
        due = self._ledger.clock() + _AGAIN_MS
        work.failed += 1
        if await self._queue.fail(claim, _short(reason), due=due, by=BY):
            work.set_aside.append(f"{claim.source_id} {claim.event}: {_short(reason)}")

    async def _stop(self, claim: Claim, reason: str) -> None:
        refused = partial(standing.stop, reason=reason, identity=self._asker.identity)
        await self._ledger.change(BY, refused)
        # It may be this prompt that is refused, by who does not say so: it comes behind the others.
        now = self._ledger.clock()
        await self._queue.give_back(claim, by=BY, reason=reason, due=now)

    async def _postpone(self, claim: Claim, reason: str, asked_s: float | None) -> None:
        asked_ms = None if asked_s is None else round(asked_s * 1000)
        pause = partial(standing.pause, reason=_short(reason), asked_ms=asked_ms)
        until = await self._ledger.change(BY, pause)
        # An event at which the provider always breaks off comes behind the others.
        await self._queue.give_back(claim, by=BY, reason=_short(reason), due=until)


def _found(answer: Answer, prompt: Prompt, event: SourceEvent) -> tuple[NewObservation, ...]:
    """The observations in an answer. Raises AskFailed where it is none."""
    parsed = parse_observations(answer.text, prompt.call, event)
    broken = [one for one in parsed.problems if one.code in ("answer-unnamed", "answer-cut")]
    if broken and not parsed.observations:
        raise AskFailed(f"{answer.model} gave no usable answer: {broken[0].message}")
    note = f"Found by {answer.model}."
    return tuple(replace(one, note=note, extracted=True) for one in parsed.observations)


def _short(reason: str) -> str:
    return cut(one_line(reason), _REASON_CHARS)
