"""Working on states from outside: take, renew, release, finish.

Nothing is kept between the calls but the documents: the caller holds the token, and any process
can serve its next call. A state is finished as by our own workers: Retry, Catch, Next and
ResultPath hold.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from control_plane import Committed, Lease, Refusal, StateDocument, Store, payload, timers
from dcf.workflow.external_assignment import (
    Assignment,
    commit_mark,
    hand_over,
    outcome_mark,
    retimed,
)
from dcf.workflow.external_steps import MOST_HOPS, ExternalSteps
from dcf.workflow.objects import Objects
from dcf.workflow.run import RunCache
from dcf.workflow.task import Outcome, Task
from dcf.workflow.task_approval import NamedApprover, named_approver

EXTERNAL_TTL_MS = 300_000
"""How long a lease of somebody outside lasts by default: language models are slow."""

_MOST_DUE = 1_000
_TIME_MAY_HELP = frozenset({"not_ready", "lease_held"})
# What a Task handles without work.
_HANDLED = frozenset({"timeout", "heartbeat", "worker_lost", "callback", "timer"})


class External:
    """The leases of those outside, in the runs of one pool.

    ``runs`` may be shared. ``objects`` is what ItemReader and ResultWriter use; ``approver`` gives
    those whom AgentBindings name.
    """

    def __init__(
        self,
        store: Store,
        runs: RunCache,
        *,
        objects: Objects | None = None,
        approver: NamedApprover = named_approver,
    ) -> None:
        self.store = self._store = store
        self._steps = ExternalSteps(store, runs, objects, approver)

    async def take(
        self,
        workflow_id: str,
        path: str,
        *,
        owner: str,
        ttl_ms: int = EXTERNAL_TTL_MS,
        token: str | None = None,
    ) -> tuple[Lease, Assignment] | Refusal:
        """Lease a ready Task for ``owner``. Its ``lease.token`` is shown nowhere else.

        The same ``token`` again gets the same lease while that is in force, then a new one. States
        that need no work are advanced on the way: then, and when their time is not there, the
        Refusal is ``not_ready``.
        """
        token = token or self._store.new_id()
        answer = await self._acquire(workflow_id, path, owner, ttl_ms, token)
        if isinstance(answer, Refusal) and answer.code in _TIME_MAY_HELP:
            # Nobody may have swept the run since.
            await self.nudge(workflow_id, owner=owner)
            answer = await self._acquire(workflow_id, path, owner, ttl_ms, token)
        if isinstance(answer, Refusal):
            return answer
        found = await self._steps.advance(answer, hand_over, ours=True)
        if isinstance(found, Assignment):
            return answer, found
        if isinstance(found, Refusal):
            return found
        return Refusal("not_ready", ("advanced",))

    async def renew(
        self, workflow_id: str, path: str, token: str, *, ttl_ms: int | None = None
    ) -> Lease | Refusal:
        """Extend a lease, and show that the work makes progress."""
        lease = await self._store.held(workflow_id, path, token)
        if isinstance(lease, Refusal):
            return lease
        lease = retimed(lease, ttl_ms)
        answer = await self._store.renew(lease, beat=True)
        if isinstance(answer, Refusal):
            await self._steps.told(lease, answer)
            return answer
        return lease

    async def release(self, workflow_id: str, path: str, token: str) -> Refusal | None:
        """Give a lease back unfinished: the state is ready again."""
        lease = await self._store.held(workflow_id, path, token)
        if isinstance(lease, Refusal):
            return lease
        return await self._steps.told(lease, await self._store.release(lease))

    async def finish(
        self,
        workflow_id: str,
        path: str,
        token: str,
        outcome: Outcome,
        *,
        keep: Callable[[Task], Awaitable[None]] | None = None,
    ) -> Committed | Refusal:
        """End the try with ``outcome``; what comes of it is up to Retry, Catch and Next. The same
        again gets ``already_finished``, another outcome ``finished_otherwise``. ``keep`` is called
        with the Task before that, under the lease."""
        lease = await self._store.held(workflow_id, path, token)
        if isinstance(lease, Refusal):
            return await self._said_before(workflow_id, path, token, outcome, lease)

        async def perform(task: Task) -> Outcome:
            if keep is not None:
                await keep(task)
            return outcome

        found = await self._steps.advance(lease, perform, outcome=outcome)
        if isinstance(found, Assignment):
            raise RuntimeError("work that was done was handed over")
        if isinstance(found, Refusal):
            return await self._said_before(workflow_id, path, token, outcome, found)
        return found

    async def work_on(self, workflow_id: str, path: str, token: str) -> Assignment | Refusal:
        """What a lease that is held was given for, once more."""
        lease = await self._store.held(workflow_id, path, token)
        if isinstance(lease, Refusal):
            return lease
        found = await self._steps.advance(lease, hand_over)
        if isinstance(found, Committed):
            return Refusal("not_ready", ("advanced",))
        return found

    async def nudge(self, workflow_id: str, *, owner: str) -> list[StateDocument]:
        """Let time move what is due and advance states that need no work; the Tasks that are ready
        then. What our workers do anyway, for runs that none of them reads. Raises UnknownRun."""
        ticked = await timers.tick(self._store, workflow_id)
        for _ in range(MOST_HOPS):
            ready = await self._ready(workflow_id)
            idle = next((one for one in ready if not needs_work(one)), None)
            if idle is None:
                break
            answer = await self._store.acquire(workflow_id, idle.path, owner=owner, alone="here")
            if isinstance(answer, Refusal):
                break
            found = await self._steps.advance(answer, hand_over, ours=True)
            if isinstance(found, Assignment):
                await self._store.release(answer)
                break
        else:
            ready = await self._ready(workflow_id)
        if ticked.status not in ("running", "pending", ""):
            await self._steps.finalize(workflow_id, owner)
        return [one for one in ready if needs_work(one)]

    async def ready_tasks(self, workflow_id: str) -> list[str]:
        """The Tasks that can be taken now."""
        return [one.path for one in await self._ready(workflow_id) if needs_work(one)]

    async def hint(self, workflow_id: str, path: str) -> None:
        """Tell the workers of the pool that a state is ready. Any hint may be doubled."""
        await self._store.send_hints(workflow_id, [path], self._store.pool)

    async def _acquire(
        self, workflow_id: str, path: str, owner: str, ttl_ms: int, token: str
    ) -> Lease | Refusal:
        # Whoever asks works on one Task at a time, as far as we know.
        return await self._store.acquire(
            workflow_id, path, owner=owner, ttl_ms=ttl_ms, token=token, alone="here"
        )

    async def _ready(self, workflow_id: str) -> list[StateDocument]:
        due = await self._store.backend.command(
            "ZRANGE", self._store.keys(workflow_id).due, 0, _MOST_DUE - 1
        )
        found = await self._store.states(workflow_id, [path for path in due if path])
        return [document for document in found.values() if document.status == "ready"]

    async def _said_before(
        self, workflow_id: str, path: str, token: str, outcome: Outcome, refusal: Refusal
    ) -> Refusal:
        """``refusal``, or how the lease of this ``token`` was ended before, if it made the last
        commit of the state."""
        if refusal.code != "lease_lost":
            return refusal
        found = (await self._store.states(workflow_id, [path])).get(path)
        made = "" if found is None else str(found.raw["ctl"].get("commit_id") or "")
        mark = "" if found is None else commit_mark(token, found.fence)
        if not made or not made.startswith(mark):
            return refusal
        same = made.startswith(mark + outcome_mark(outcome))
        return Refusal("already_finished" if same else "finished_otherwise")


def needs_work(document: StateDocument) -> bool:
    """Whether a ready state is a Task that somebody must work on."""
    return document.type == "Task" and document.event not in _HANDLED and not _is_answered(document)


def _is_answered(document: StateDocument) -> bool:
    """Whether somebody was asked and said no, or answered a manual task: what comes of that needs
    no work."""
    if not document.answered and document.event != "approval":
        return False
    told = payload.decode(document.event_payload)
    return isinstance(told, dict) and told.get("decision") != "approve"
