"""The people around a run: they submit it, cancel it, redrive it, and repeat what was not heard."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from control_plane import Store, UnknownRun
from dcf.simulation.fail_over import FailOver
from dcf.simulation.network import until_heard
from dcf.simulation.order import Order
from dcf.workflow import NotRedrivable, redrive, submit, wait


class Client:
    """Whoever ordered a run; ``open_store`` gives each of its hands a connection of its own."""

    def __init__(
        self,
        order: Order,
        open_store: Callable[[], Store],
        rng: random.Random,
        fail_over: FailOver,
    ) -> None:
        self._order = order
        self._store = open_store()
        self._open_store = open_store
        self._rng = rng
        self._fail_over = fail_over

    async def act(self) -> None:
        """Submit, cancel and redrive as ordered; over when the run is."""
        order = self._order
        await asyncio.sleep(order.submit_at)
        await self._fail_over.surely(self._submit)
        cancelling = asyncio.create_task(self._cancel())
        for _ in range(order.redrives):
            ended = await until_heard(lambda: wait(self._store, order.workflow_id, poll_s=1.0))
            if ended.status == "succeeded":
                break
            await asyncio.sleep(self._rng.choice((0.0, 0.01, 3.0)))
            hands = [self._redrive(self._open_store()) for _ in range(order.redrivers)]
            await asyncio.gather(*hands)
        await cancelling

    async def _submit(self) -> None:
        order = self._order
        await until_heard(
            lambda: submit(self._store, order.document, order.input, workflow_id=order.workflow_id)
        )

    async def _cancel(self) -> None:
        order = self._order
        if order.cancel_at is None:
            return
        await asyncio.sleep(order.cancel_at)
        try:
            await until_heard(lambda: self._store.cancel(order.workflow_id, by="client"))
        except UnknownRun as error:
            raise AssertionError("a submitted run is known") from error

    async def _redrive(self, store: Store) -> None:
        await asyncio.sleep(self._rng.choice((0.0, 0.0005, 0.1)))
        try:
            await until_heard(lambda: redrive(store, self._order.workflow_id))
        except NotRedrivable:
            # Somebody else was faster, or it was heard before.
            return
