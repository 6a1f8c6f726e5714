"""Sessions: the records, and what their changes lead to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from control_plane import (
    JSON,
    Outbox,
    SessionFull,
    SessionStore,
    Store,
    claims,
    keys,
)
from dcf.sessions import broadcasting, delegating, staffing, stating
from dcf.sessions.changing import SessionChanges
from dcf.sessions.companion import Companion
from dcf.sessions.draft import Draft, new_record
from dcf.sessions.facts import Facts
from dcf.sessions.order import Broadcast, Order
from dcf.sessions.reading import session_of
from dcf.sessions.session import Context, Head, Session
from dcf.sessions.task import SessionTask
from dcf.sessions.task_run import document_of_order
from dcf.sessions.telling import GraphFacts
from dcf.sessions.tick import tick
from dcf.skills import Manifest, SkillCatalog
from dcf.workflow import iso, skill_pins

Catalog = Callable[[], Awaitable[SkillCatalog]]

_SOON_MS = 1_000
_PROGRESS_MS = 900
"""A task's progress is told at most so often; a little under the second that tellers wait."""


class Sessions(SessionChanges):
    """The sessions of one control plane.

    ``store`` is a store of its runs: a task's run goes to the pool of its companion, a workflow to
    the store's own. With a ``catalog`` skills are looked up when a task is delegated, and its run
    is pinned to them. ``facts`` is told what ended: by default the graph, where the store feeds
    the outbox. ``records`` as in ``SessionReader``.
    """

    def __init__(
        self,
        store: Store,
        *,
        catalog: Catalog | None = None,
        facts: Facts | None = None,
        records: SessionStore | None = None,
    ) -> None:
        super().__init__(store, records)
        self.facts = facts or self._facts_of(store)
        self._catalog = catalog

    # -- changing ---------------------------------------------------------------------------------

    async def create(
        self,
        session_id: str,
        conductor_id: str,
        objective: str,
        *,
        shared_data: Mapping[str, JSON] | None = None,
        preferences: Mapping[str, JSON] | None = None,
    ) -> Session:
        """Begin a session. Raises SessionExists, BadName, SessionProblem."""
        now = await self.store.now_ms()
        head = Head(objective, (conductor_id,), now)
        draft = Draft(session_id, new_record(head, Context()), now=now)
        change = stating.ContextChange(
            objective=objective, shared_data=shared_data, preferences=preferences
        )
        stating.change_context(draft, change, by=conductor_id, at="")
        record = new_record(draft.head, draft.context)
        document = await self.records.create(
            session_id, session_id, tags=(f"conductor:{conductor_id}",), record=record
        )
        await claims.put(self.backend, keys.SESSIONS_DUE, session_id, now + _SOON_MS)
        return session_of(document)

    async def delegate(self, session_id: str, order: Order) -> SessionTask:
        """Delegate one task; as it is now, queued or assigned. The same order again, under the same
        id, is the same task. Raises SessionProblem, UnknownSkill, UnknownSession,
        InvalidWorkflow."""
        order = await self.checked(order)
        return await self.ordered(
            session_id,
            order,
            () if order.task_id is None else (order.task_id,),
            lambda draft, task_id: delegating.delegate(draft, order, task_id),
        )

    async def broadcast(self, session_id: str, asked: Broadcast) -> SessionTask:
        """Delegate one task to several; the task that stands for all of them."""
        asked = replace(asked, order=await self.checked(asked.order))
        task_id = asked.order.task_id
        ids: tuple[str, ...] = ()
        if task_id is not None:
            most = min(asked.most, staffing.COMPANIONS_LIMIT)
            ids = (task_id, *broadcasting.ids_of(task_id, most))
        return await self.ordered(
            session_id,
            asked.order,
            ids,
            lambda draft, task_id: broadcasting.broadcast(draft, asked, task_id),
        )

    async def cancel(
        self, session_id: str, task_id: str, *, by: str, reason: str | None = None
    ) -> SessionTask:
        """Cancel a task, wherever it is; as it is then. Raises UnknownTask, TaskOver."""
        await self.change(
            session_id,
            lambda draft: delegating.cancel(draft, task_id, by=by, reason=reason),
            ends=True,
        )
        session = await self.tick(session_id)
        return session.tasks.get(task_id) or await self.task(session_id, task_id)

    async def redelegate(
        self, session_id: str, task_id: str, companion_id: str | None, *, by: str, reason: str = ""
    ) -> SessionTask:
        """Take a task away from whoever has it, for ``companion_id`` or any that is suitable. It
        goes on in its run. Raises UnknownTask, TaskOver, UnknownCompanion, DelegationCycle,
        BadValue for one that is no companion's."""
        _, session = await self.change(
            session_id,
            lambda draft: delegating.redelegate(draft, task_id, companion_id, by=by, reason=reason),
        )
        return session.tasks[task_id]

    # -- companions -------------------------------------------------------------------------------

    async def employ(self, session_id: str, new: staffing.NewCompanion) -> Companion:
        """Make a companion; a companion process serves it from then on, or an MCP client when it
        is external. Raises SessionProblem, UnknownSkill."""
        new = replace(new, skills=await self._resolved(new.skills))
        unique = self.store.new_id()
        made, session = await self.change(
            session_id, lambda draft: staffing.employ(draft, new, unique)
        )
        return session.companions[made.companion_id]

    async def dismiss(
        self, session_id: str, companion_id: str, *, by: str, reason: str | None = None
    ) -> Companion:
        """Take a companion out of the session; its task goes to another. Raises
        UnknownCompanion."""
        gone, _ = await self.change(
            session_id,
            lambda draft: staffing.dismiss(draft, companion_id, by=by, reason=reason),
            ends=True,
        )
        return gone

    async def describe(self, session_id: str, companion_id: str, **said: str | None) -> Companion:
        """What is said of a companion: see ``staffing.describe``."""
        described, session = await self.change(
            session_id, lambda draft: staffing.describe(draft, companion_id, **said)
        )
        return session.companions[described.companion_id]

    async def take_seat(self, session_id: str, companion_id: str) -> Companion | None:
        """Somebody serves the companion from now on, whose seat is kept; None when it is gone."""
        found, session = await self.change(
            session_id, lambda draft: staffing.take_seat(draft, companion_id)
        )
        return None if found is None else session.companions.get(companion_id)

    # -- states -----------------------------------------------------------------------------------

    async def change_context(
        self, session_id: str, change: stating.ContextChange, *, by: str
    ) -> tuple[list[str], Session]:
        """Change the context; what was changed. Raises SessionProblem."""
        return await self.change(
            session_id,
            lambda draft: stating.change_context(draft, change, by=by, at=iso(draft.now)),
        )

    async def pause(self, session_id: str, *, by: str, reason: str | None = None) -> Session:
        return (await self.change(session_id, lambda d: stating.pause(d, by=by, reason=reason)))[1]

    async def resume(self, session_id: str, *, by: str) -> Session:
        return (await self.change(session_id, lambda d: stating.resume(d, by=by)))[1]

    async def join(self, session_id: str, agent_id: str) -> Session:
        return (await self.change(session_id, lambda draft: stating.join(draft, agent_id)))[1]

    async def end(
        self,
        session_id: str,
        *,
        by: str,
        abandon: bool = False,
        cancel: bool = False,
        reason: str | None = None,
    ) -> Session:
        """Begin to end the session: it takes nothing new, and is over when nothing is open any
        more, at once with ``cancel``. Safe to repeat."""

        def step(draft: Draft) -> None:
            ending: Any = "abandoned" if abandon else "completed"
            stating.begin_end(draft, ending, by=by, reason=reason, cancel=cancel)

        await self.change(session_id, step, ends=True)
        return await self.tick(session_id)

    async def tick(self, session_id: str) -> Session:
        """Bring the session up to what its runs, its clock and its seats say. What any change may
        have left undone when its process died is done here. Safe to repeat, from anywhere."""
        return await tick(self, session_id)

    async def say(self, session_id: str, type_: str, **fields: JSON) -> None:
        """Add an event to the session's history; nothing else changes. Raises UnknownSession,
        SessionFull while there is still room for what settles tasks."""
        document = await self.records.read(session_id, ())
        await self.records.note(document, [{"type": type_, **fields}])

    async def say_progress(self, session_id: str, task_id: str, **fields: JSON) -> bool:
        """Add to the history how far a task is, at most once a second, whoever tells it; whether it
        was told. A history that is full goes without. Raises UnknownSession."""
        key = keys.progress(session_id, task_id)
        if not await self.backend.command("SET", key, 1, "NX", "PX", _PROGRESS_MS):
            return False
        try:
            await self.say(session_id, "TaskProgress", task_id=task_id, **fields)
        except SessionFull:
            return False
        return True

    # -- what changes lead to ---------------------------------------------------------------------

    def _facts_of(self, store: Store) -> Facts:
        if not store.feeds_outbox:
            return Facts()
        return GraphFacts(Outbox(store.backend), self.closed)

    async def checked(self, order: Order) -> Order:
        """The order with its skills by their ids, its workflow checked, and pinned to the skills as
        they are now: whoever makes its run, later. Raises UnknownSkill, InvalidWorkflow."""
        skills = await self._resolved(order.skills)
        catalog = await self._catalog() if self._catalog is not None else None
        document = document_of_order(order, skills, catalog)
        return replace(order, skills=skills, pins=skill_pins(document, catalog))

    async def skill(self, ref: str) -> Manifest | None:
        """The skill that ``ref`` names, as it is now; None without a catalog. Raises
        UnknownSkill."""
        return None if self._catalog is None else (await self._catalog()).resolve(ref)

    async def _resolved(self, refs: Sequence[str]) -> tuple[str, ...]:
        if self._catalog is None or not refs:
            return tuple(refs)
        catalog = await self._catalog()
        return tuple(dict.fromkeys(catalog.resolve(ref).manifest_id for ref in refs))
