"""The steps of leases that somebody outside holds, and of states after them without work."""

from __future__ import annotations

import random

from control_plane import Committed, ControlPlaneError, Lease, MissingBlob, Refusal, Store, timers
from dcf.asl import DefinitionError
from dcf.workflow.choreography import Choreographer
from dcf.workflow.earlier_runs import refuse_earlier_run
from dcf.workflow.errors import StillRunning
from dcf.workflow.external_assignment import Assignment, ExternalStore, HandedOver, hand_over
from dcf.workflow.finalization import finalize
from dcf.workflow.objects import Objects
from dcf.workflow.run import RunCache
from dcf.workflow.task import Outcome, Perform
from dcf.workflow.task_approval import NamedApprover

MOST_HOPS = 50


class ExternalSteps:
    """Takes steps in the runs of one pool."""

    def __init__(
        self,
        store: Store,
        runs: RunCache,
        objects: Objects | None,
        approver: NamedApprover,
    ) -> None:
        self._store = store
        self._runs = runs
        self._objects = objects
        self._approver = approver

    async def advance(
        self,
        lease: Lease,
        perform: Perform,
        *,
        ours: bool = False,
        outcome: Outcome | None = None,
    ) -> Assignment | Committed | Refusal:
        """Do the step of ``lease``, and those after it that need no work; the answer to the first.
        ``outcome`` is what ``perform`` will give, where that is known. Raises EarlierRuns for a run
        whose JSONata an earlier version evaluates.

        Whatever goes wrong, leases taken here are given back; that of ``lease`` itself only when it
        is ``ours``, since nobody knows of it: a passing error ends nobody's work.
        """
        store = ExternalStore(self._store, lease, outcome)
        # The same seed under one lease: what was handed over is what is finished.
        choreographer = Choreographer(
            store,
            rng=random.Random(f"{lease.token}/{lease.fence}"),
            objects=self._objects,
            approver=self._approver,
        )
        first: Committed | Refusal | None = None
        current: Lease | None = lease
        for _ in range(MOST_HOPS):
            if current is None:
                break
            try:
                answer = await self._step(choreographer, current, perform)
            except HandedOver as handed:
                return Assignment(handed.task)
            except Exception:
                if ours or current is not lease:
                    await self._store.release(current)
                raise
            first = first or answer
            if isinstance(answer, Refusal):
                await self.told(current, answer)
                break
            if answer.run_status is not None:
                await self._over(current, choreographer)
            current, perform = answer.lease, hand_over
        else:
            if current is not None:
                await self._store.release(current)
        if first is None:
            raise RuntimeError("no step was taken")
        return first

    async def _step(
        self, choreographer: Choreographer, lease: Lease, perform: Perform
    ) -> Committed | Refusal:
        await refuse_earlier_run(self._store, lease.workflow_id)
        try:
            run = await self._runs.get(lease.workflow_id, lease.incarnation)
        except (DefinitionError, MissingBlob) as error:
            return await choreographer.refuse(lease, error)
        return await choreographer.advance(run, lease, perform, in_place=True)

    async def _over(self, lease: Lease, choreographer: Choreographer) -> None:
        self._runs.forget(lease.workflow_id)
        choreographer.forget(lease.workflow_id)
        await self.finalize(lease.workflow_id, lease.owner)

    async def finalize(self, workflow_id: str, by: str) -> None:
        """Seal a run that is over, as far as nobody else does."""
        try:
            await finalize(self._store, workflow_id, by=by)
        except (StillRunning, ControlPlaneError):
            # It runs again, was removed, or a worker's sweep finalizes it later.
            return

    async def told(self, lease: Lease, refusal: Refusal | None) -> Refusal | None:
        """``refusal``; a limit of time that has passed is acted on at once."""
        if refusal is not None and refusal.code == "timed_out":
            await timers.tick(self._store, lease.workflow_id)
        return refusal
