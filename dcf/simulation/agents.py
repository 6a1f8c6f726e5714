"""Simulated work, and the ledger in which each execution is written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from control_plane import Budget, ControlPlaneError, Lease, Store
from dcf import asl
from dcf.simulation.behaviour import Behaviour
from dcf.simulation.calls import Watch, make_calls
from dcf.simulation.process import Process
from dcf.simulation.strangers import Strangers
from dcf.worker import Beat
from dcf.workflow import Failed, Outcome, Succeeded, Task

# What a try and a run may ask models for.
_TRY = Budget(wall_ms=60_000, model_calls=2, tokens=90, nano_usd=3_000_000)
_RUN = Budget(wall_ms=90_000, model_calls=9, tokens=300, nano_usd=9_000_000)
_UNPRICED = Budget(model_calls=2, tokens=90)

Sites = Mapping[str, Behaviour]


@dataclass(frozen=True, slots=True)
class Execution:
    """The work of a Task was begun under a lease."""

    who: str
    run: str
    path: str
    visit: int
    try_: int
    fence: int
    key: str

    @classmethod
    def under(cls, lease: Lease, who: str) -> Execution:
        """Of what ``lease`` is about, by ``who``."""
        about = lease.workflow_id, lease.path, lease.visit, lease.try_, lease.fence
        return cls(who, *about, lease.idempotency_key)


class SimulatedAgents:
    """Performs Tasks by the ``Behaviour`` of their ``Resource``, in a simulated process."""

    def __init__(
        self,
        sites: Mapping[str, Sites],
        process: Process,
        ledger: list[Execution],
        strangers: Strangers,
        store: Store,
        watch: Watch,
        sure: Store,
    ) -> None:
        self._sites = sites
        self._strangers = strangers
        self._process = process
        self._ledger = ledger
        self._store = store
        self._watch = watch
        self._sure = sure

    async def perform(self, task: Task, beat: Beat) -> Outcome:
        """The outcome of ``task``."""
        lease, site = task.lease, task.state.resource or ""
        behaviour, attempt = self._sites[lease.workflow_id][site], lease.try_ - 1
        await _ask_models(self._sure, lease)
        self._ledger.append(Execution.under(lease, self._process.name))
        event = behaviour.event(site, attempt, task.arguments)
        if task.token is not None:
            self._strangers.hand(
                task.token,
                behaviour,
                attempt,
                event,
                timeout_s=task.timeout_s,
                heartbeat_s=task.heartbeat_s,
            )
            # Some are still at work when the answer comes, which ends their lease.
            dawdles = behaviour.answers(attempt) and lease.fence % 3 == 0
            await self._process.sleep(2 * behaviour.seconds if dawdles else 0.0)
            return Succeeded(None)
        await self._process.sleep(behaviour.seconds)
        if behaviour.kind == "asks":
            asked = await make_calls(self._store, lease, self._process, behaviour, self._watch)
            if asked is not None:
                return asked
        if not behaviour.answers(attempt):
            limit = task.timeout_s if behaviour.kind == "hangs" else task.heartbeat_s
            await self._process.sleep(2 * (limit or 0.0) + 30)
        elif task.heartbeat_s is not None:
            beat()
        if isinstance(event, asl.TaskFailed):
            return Failed(event.error, event.cause)
        return Succeeded(event.result)


async def _ask_models(store: Store, lease: Lease) -> None:
    """Two requests under ``lease``; what they take depends on its fence alone."""
    if lease.fence % 4 == 0:
        # As where the limits of the work are known only when it begins.
        await _renew(store, lease)
    about: dict[str, Any] = {"path": lease.path, "visit": lease.visit, "try": lease.try_}
    for number in range(2):
        odds = (lease.fence + number) % 7
        call, tokens = f"{lease.path}/{lease.fence}/{number}", 20 + 10 * odds
        nano = None if odds == 3 else 400_000 * odds
        limits = {"try_budget": _UNPRICED if odds == 3 else _TRY}
        if odds not in (3, 5):
            limits["run_budget"] = _RUN
        try:
            for _ in range(1 + odds % 2):
                refused = {"type": "ModelRefused", **about}
                await store.reserve(lease, call, refused, tokens=tokens, nano_usd=nano, **limits)
            # Whoever dies over a request never bills it.
            for _ in range((0, 1, 1, 2, 1, 1, 2)[odds]):
                billed = {"type": "ModelCalled", **about, "number": number}
                used = None if nano is None else nano - 100_000 * (odds % 3)
                await store.bill(lease, call, billed, tokens=tokens - 7, nano_usd=used)
        except ControlPlaneError:
            # No write is taken now.
            return


async def _renew(store: Store, lease: Lease) -> None:
    try:
        await store.renew(lease, limits=lease.limits)
    except ControlPlaneError:
        # No write is taken now.
        return
