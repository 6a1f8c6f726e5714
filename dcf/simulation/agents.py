"""Simulated work, and the ledger in which each execution is written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from control_plane import Store
from dcf import asl
from dcf.simulation.behaviour import Behaviour
from dcf.simulation.calls import Watch, make_calls
from dcf.simulation.model_requests import ask_models
from dcf.simulation.process import Process
from dcf.simulation.strangers import Strangers
from dcf.worker import Beat
from dcf.workflow import Failed, Outcome, Succeeded, Task

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
        await ask_models(self._sure, lease)
        self._ledger.append(
            Execution(
                self._process.name,
                lease.workflow_id,
                lease.path,
                lease.visit,
                lease.try_,
                lease.fence,
                lease.idempotency_key,
            )
        )
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
