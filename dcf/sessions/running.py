"""What follows from what stands in a session: runs in the pools of companions, and seats."""

from __future__ import annotations

import logging

from control_plane import (
    ControlPlaneError,
    Disconnected,
    RunExists,
    ServerError,
    SessionStore,
    Store,
    UnknownRun,
    claims,
    keys,
)
from dcf.knowledge import SESSION_PIN
from dcf.sessions.companion import Companion
from dcf.sessions.draft import Draft
from dcf.sessions.errors import SessionProblem, TaskIdTaken
from dcf.sessions.passing import input_of
from dcf.sessions.reading import SessionReader
from dcf.sessions.seat import inbox_of, seat_of
from dcf.sessions.task import SessionTask
from dcf.sessions.task_run import document_for, is_of, whose_run
from dcf.skills import SkillError
from dcf.workflow import WorkflowError, submit

log = logging.getLogger(__name__)

CANNOT = (WorkflowError, ControlPlaneError, SessionProblem, SkillError)
"""What says that a task cannot be run, unless the server is away."""

_SOON_MS = 1_000
_STORES = 10_000


class TaskRuns(SessionReader):
    """The runs of tasks, and the seats of those who do them. All of it is safe to repeat."""

    def __init__(self, store: Store, records: SessionStore | None = None) -> None:
        super().__init__(store, records)
        self._stores: dict[str, Store] = {store.pool: store}

    async def start(self, session_id: str, task: SessionTask) -> None:
        """See to it that an assigned task has its run, in the pool of who has it. An answer that
        comes late changes nothing: moves are numbered. Raises TaskIdTaken."""
        companion_pool = (
            None if task.companion_id is None else inbox_of(session_id, task.companion_id)
        )
        store = self.store_of(companion_pool or self.store.pool)
        try:
            run = await self.store.run(task.task_id)
        except UnknownRun:
            run = None
        if run is None:
            await self.submit(session_id, task, store)
            run = await self.store.run(task.task_id)
        if not is_of(run, session_id):
            raise TaskIdTaken(task_id=task.task_id, whose=whose_run(run))
        turn = len(task.attempts)
        # Who gets a task back that was taken away begins anew: the lease it had ends, too.
        if companion_pool is not None and turn > 1 and turn > run.turn and not run.is_over:
            await self.store.move(
                task.task_id,
                companion_pool,
                by=session_id,
                reason=task.attempts[-2].why or "",
                turn=turn,
                revoke=True,
            )

    async def try_start(self, session_id: str, task: SessionTask) -> None:
        """``start``; a task that cannot be is left to the tick, and others go on. Raises
        Disconnected, ServerError."""
        try:
            await self.start(session_id, task)
        except (Disconnected, ServerError):
            raise
        except CANNOT as error:
            log.warning("session %s: %s cannot start: %s", session_id, task.task_id, error)

    async def submit(self, session_id: str, task: SessionTask, store: Store) -> None:
        """Make the run of a task, in the pool of ``store``, unless it is there. Raises TaskIdTaken
        when another run has its id."""
        pins = {**(task.pins or {}), SESSION_PIN: session_id}
        value = await input_of(self.store, task)
        try:
            await submit(store, document_for(task), value, workflow_id=task.task_id, pins=pins)
        except RunExists as exists:
            # It is there; the run of a task that it follows may be gone by now, and its result.
            run = await self.store.run(task.task_id)
            if not is_of(run, session_id):
                raise TaskIdTaken(task_id=task.task_id, whose=whose_run(run)) from exists

    def store_of(self, pool: str) -> Store:
        """A store whose runs are those of ``pool``."""
        found = self._stores.get(pool)
        if found is None:
            found = self.store.in_pool(pool)
            if len(self._stores) < _STORES:
                self._stores[pool] = found
        return found

    async def follow(self, draft: Draft) -> None:
        """Run what this change gave away, and have those served who came; what fails here is done
        again by the tick."""
        for event in draft.events:
            companion = draft.companions.get(event.get("companion_id", ""))
            if event["type"] == "CompanionCreated" and companion is not None:
                await self.offer_seat(draft.session_id, companion)
            elif event["type"] == "CompanionDismissed":
                await self._drop_seat(draft.session_id, event["companion_id"])
        given = [event["task_id"] for event in draft.events if event["type"] == "TaskAssigned"]
        for task_id in given:
            task = draft.tasks.get(task_id)
            if task is not None and task.status == "assigned":
                await self.try_start(draft.session_id, task)
        await claims.sooner(self.backend, keys.SESSIONS_DUE, draft.session_id, draft.now + _SOON_MS)

    async def offer_seat(self, session_id: str, companion: Companion) -> None:
        """See to it that a companion process serves a companion that nobody ever served."""
        if companion.external:
            return
        member = seat_of(session_id, companion.companion_id)
        await claims.offer(self.backend, keys.COMPANIONS, member, companion.created_at)

    async def _drop_seat(self, session_id: str, companion_id: str) -> None:
        """Nobody serves the companion any more; its inbox goes first: its seat tells of it."""
        await self.backend.command("DEL", keys.queue(inbox_of(session_id, companion_id)))
        member = seat_of(session_id, companion_id)
        await claims.drop(self.backend, keys.COMPANIONS, [member])
        await claims.drop(self.backend, keys.EXTERNAL_COMPANIONS, [member])
