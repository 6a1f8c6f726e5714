"""The stub without a protocol: takes calls, decides once, remembers, answers."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

from dcf.tools.stub.answer import Answer, Call, failure
from dcf.tools.stub.catalog import Catalog
from dcf.tools.stub.choosing import choose, refuse
from dcf.tools.stub.ledger import CallLog, CallRecord, EffectLedger, KeyReused
from dcf.tools.stub.metrics import Metrics
from dcf.tools.stub.pacing import Pacer, Sleep
from dcf.tools.stub.tool import StubTool
from dcf.tools.stub.turns import Turns


class Stopping(Exception):
    """The stub stops before it gave an answer; the effect of the call is recorded."""


class Desk:
    """Answers calls from the catalog.

    What a call does is decided and recorded before anything is awaited: a call that is cut off
    while its answer is delayed has had its effect, and the repetition with the same idempotency
    key gets that answer, at once.
    """

    def __init__(
        self,
        catalog: Catalog,
        *,
        seed: int | None,
        clock: Callable[[], float],
        monotonic: Callable[[], float],
        sleep: Sleep,
    ) -> None:
        self.catalog = catalog
        self.metrics = Metrics()
        self.calls = CallLog()
        self._seed = seed
        self._clock = clock
        self._sleep = sleep
        self._pacer = Pacer(monotonic, sleep)
        self._effects = EffectLedger()
        self._waiting: set[asyncio.Timeout] = set()
        self._numbers: Counter[tuple[str, str]] = Counter()
        self._turns = Turns()

    async def answer(self, tool: StubTool, call: Call) -> Answer:
        """The answer to one call, after the tool's rate limit and the case's latency.

        Raises ``Stopping``.
        """
        answer, replayed = self._decide(tool, call)
        self._note(tool, call, answer, replayed)
        if replayed and not answer.holds:
            return answer
        await self._delay(tool, answer.delay_s)
        return answer

    def stop(self) -> None:
        """End the calls whose answers are delayed, with ``Stopping``."""
        for waiting in self._waiting:
            waiting.reschedule(asyncio.get_running_loop().time())

    def reset(self) -> None:
        """Forget counters, call log, call numbers and where sequences stand. Effects stay: what
        was done is done."""
        self.metrics.reset()
        self.calls.clear()
        self._numbers.clear()
        self.rewind()

    def rewind(self) -> None:
        """Let every sequence begin again; all else stays."""
        self._turns.clear()

    async def _delay(self, tool: StubTool, seconds: float) -> None:
        try:
            async with asyncio.timeout(None) as waiting:
                self._waiting.add(waiting)
                try:
                    await self._pacer.wait(tool.key, tool.rps)
                    if seconds > 0:
                        await self._sleep(seconds)
                finally:
                    self._waiting.discard(waiting)
        except TimeoutError:
            raise Stopping(tool.key) from None

    def _decide(self, tool: StubTool, call: Call) -> tuple[Answer, bool]:
        """The answer, and whether it was given before."""
        refused = refuse(tool, call.arguments)
        if refused is not None:
            return refused, False
        if call.idempotency_key is None:
            return self._choose(tool, call), False
        try:
            known = self._effects.find(tool.key, call.idempotency_key, call.arguments)
        except KeyReused:
            message = f"the key {call.idempotency_key} came before with other arguments"
            return failure("IdempotencyKeyReused", message), False
        if known is not None:
            return known, True
        answer = self._choose(tool, call)
        self._effects.record(tool.key, call.idempotency_key, call.arguments, answer)
        return answer, False

    def _choose(self, tool: StubTool, call: Call) -> Answer:
        seed = self.catalog.current().seed if self._seed is None else self._seed
        return choose(
            tool,
            call,
            seed=seed,
            now=self._clock(),
            number=lambda case: self._count(tool, case),
            turn=lambda case: self._turns.take(tool.key, case, call.arguments, call.run),
        )

    def _count(self, tool: StubTool, case_id: str) -> int:
        number = self._numbers[tool.key, case_id]
        self._numbers[tool.key, case_id] += 1
        return number

    def _note(self, tool: StubTool, call: Call, answer: Answer, replayed: bool) -> None:
        self.metrics.count((tool.server_id, tool.name), answer, replayed=replayed)
        self.calls.add(
            CallRecord(
                server=tool.server_id,
                tool=tool.name,
                arguments=call.arguments,
                idempotency_key=call.idempotency_key,
                fence=call.fence,
                case=answer.case_id,
                error=answer.error,
                replayed=replayed,
                at=self._clock(),
            )
        )
