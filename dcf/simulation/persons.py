"""Persons: they look at what waits for approval, and decide as the behaviour of its site says."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping

from control_plane import Store, split_path
from dcf.simulation.behaviour import Behaviour
from dcf.simulation.fail_over import FailOver
from dcf.simulation.network import until_heard
from dcf.simulation.order import EPOCH_S, Order
from dcf.workflow import (
    ApprovalSettled,
    Decision,
    NotAnApprover,
    PendingApproval,
    answer_approval,
    pending_approvals,
)

Question = tuple[str, str, int, int, int, int]
_LOOK_S = 2.0
_LONGEST_S = 4.0
_LATEST_S = 9.0
_OTHERS = 0.4


class Persons:
    """Ada and Bob, who answer late, twice, at once, or not at all; the first answer must count."""

    def __init__(
        self,
        orders: Mapping[str, Order],
        open_store: Callable[[], Store],
        rng: random.Random,
        on_defect: Callable[[str], None],
        fail_over: FailOver,
    ) -> None:
        self._orders = orders
        self._open_store = open_store
        self._rng = rng
        self._on_defect = on_defect
        self._fail_over = fail_over
        self._seen: set[Question] = set()
        self._tasks: list[asyncio.Task[None]] = []

    def come(self) -> None:
        """Begin to look, if anything will ever be asked."""
        sites = (site for order in self._orders.values() for site in order.sites.values())
        if any(site.kind == "asks" for site in sites):
            self._start(self._look())

    async def go(self) -> None:
        """No more answers."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _look(self) -> None:
        store = self._open_store()
        while True:
            for asked in await until_heard(lambda: pending_approvals(store)):
                place = (asked.workflow_id, asked.path, asked.visit, asked.try_, asked.ask)
                # What waits again after it was answered was forgotten.
                question = (*place, self._fail_over.number)
                if question not in self._seen:
                    self._seen.add(question)
                    self._start(self._decide(asked))
            await asyncio.sleep(_LOOK_S)

    async def _decide(self, asked: PendingApproval) -> None:
        verdict, number = self._behaviour(asked).decides(asked.try_ - 1), self._fail_over.number
        by = asked.request.people[0]
        if verdict == "silence":
            # Too late by the time of whoever is asked, mostly by so little that no sweep has seen
            # it: what counts is the server's clock.
            now_s = EPOCH_S + asyncio.get_running_loop().time()
            left_s = max(0.0, (asked.until_ms or 0) / 1000 - now_s)
            await asyncio.sleep(left_s + _LATEST_S * self._rng.random() ** 8)
            if self._fail_over.number != number:
                return  # it may have been asked once more, later
            if await self._answer(asked, "approve", by):
                self._on_defect(f"an answer that came too late counted: {asked}")
            return
        await asyncio.sleep(self._rng.uniform(0, _LONGEST_S))
        if self._rng.random() < _OTHERS and await self._answer(asked, verdict, "mallory"):
            self._on_defect(f"somebody decided who may not: {asked}")
        hands = [self._answer(asked, verdict, by) for _ in range(self._rng.choice((1, 1, 2)))]
        await asyncio.gather(*hands)
        # Where the first may be forgotten, the second may count.
        if self._rng.random() < _OTHERS and not self._fail_over.happens:
            other: Decision = "reject" if verdict == "approve" else "approve"
            if await self._answer(asked, other, by):
                self._on_defect(f"a second answer counted: {asked}")

    def _behaviour(self, asked: PendingApproval) -> Behaviour:
        order = self._orders[asked.workflow_id]
        state = order.document.machine.locate(list(split_path(asked.path)))
        return order.sites[state.resource or ""]

    async def _answer(self, asked: PendingApproval, decision: Decision, by: str) -> bool:
        """Whether the answer counted."""
        store = self._open_store()
        try:
            await until_heard(
                lambda: answer_approval(store, asked, decision=decision, by=by, reason="as planned")
            )
        except (ApprovalSettled, NotAnApprover):
            return False
        return True

    def _start(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        task.add_done_callback(self._over)
        self._tasks.append(task)

    def _over(self, task: asyncio.Future[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._on_defect(f"a person broke: {error!r}")
