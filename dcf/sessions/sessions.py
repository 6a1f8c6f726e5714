"""Sessions: the records, and what their changes lead to."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from control_plane import (
    JSON,
    Backend,
    Outbox,
    RecordChange,
    RunExists,
    SessionDocument,
    SessionStore,
    Store,
    UnknownRun,
    claims,
    keys,
)
from dcf.knowledge import SESSION_PIN
from dcf.sessions import delegating, staffing, stating
from dcf.sessions.assigning import assign
from dcf.sessions.companion import Companion
from dcf.sessions.draft import MEMBERS, Draft, new_record, page_name
from dcf.sessions.errors import TaskExists, UnknownTask
from dcf.sessions.facts import Facts
from dcf.sessions.order import Broadcast, Order
from dcf.sessions.passing import input_of
from dcf.sessions.seat import inbox_of, seat_of
from dcf.sessions.session import Context, Head, Session
from dcf.sessions.settling import take_away
from dcf.sessions.similar import similar
from dcf.sessions.task import SessionTask
from dcf.sessions.task_run import document_for, document_of_order, is_of
from dcf.sessions.telling import GraphFacts
from dcf.sessions.tick import tick
from dcf.skills import SkillCatalog
from dcf.workflow import iso, skill_pins, submit

log = logging.getLogger(__name__)

T = TypeVar("T")

Catalog = Callable[[], Awaitable[SkillCatalog]]

_SOON_MS = 1_000
_STORES = 10_000


class Sessions:
    """The sessions of one control plane.

    ``store`` is a store of its runs: a task's run goes to the pool of its companion, a workflow to
    the store's own. With a ``catalog`` skills are looked up when a task is delegated, and its run
    is pinned to them. ``facts`` is told what ended: by default the graph, where the store feeds
    the outbox.
    """

    def __init__(
        self, store: Store, *, catalog: Catalog | None = None, facts: Facts | None = None
    ) -> None:
        self.store = store
        self.facts = facts or self._facts_of(store)
        self.backend: Backend = store.backend
        self.records = SessionStore(store.backend, cluster=store.cluster, tokens=store.new_id)
        self._catalog = catalog
        self._known: dict[str, tuple[str, ...]] = {}
        self._stores: dict[str, Store] = {store.pool: store}

    # -- reading ----------------------------------------------------------------------------------

    async def get(self, session_id: str) -> Session:
        """The session. Raises UnknownSession."""
        document = await self.records.read(session_id, MEMBERS)
        return _session(document)

    async def closed(self, session_id: str) -> list[SessionTask]:
        """The closed tasks that were moved to pages, the oldest first. Raises UnknownSession."""
        head = (await self.get(session_id)).head
        names = [page_name(number) for number in range(head.pages)]
        if not names:
            return []
        document = await self.records.read(session_id, names)
        return [SessionTask.parse(raw) for name in names for raw in document.record[name].values()]

    async def tasks(self, session_id: str) -> list[SessionTask]:
        """All tasks there ever were, in the order in which they were delegated."""
        found = [*await self.closed(session_id), *(await self.get(session_id)).tasks.values()]
        return sorted(found, key=lambda task: (task.delegated_at, task.task_id))

    async def seated(
        self, companion_ids: Sequence[str], session_id: str
    ) -> tuple[int, dict[str, int]]:
        """Redis's clock, and when the seats of those that somebody serves end (ms)."""
        members = [seat_of(session_id, one) for one in companion_ids]
        now, ends = await claims.ends(self.backend, keys.COMPANIONS, members)
        _, outside = await claims.ends(self.backend, keys.EXTERNAL_COMPANIONS, members)
        found = {}
        for one, member in zip(companion_ids, members, strict=True):
            end = max(ends.get(member, 0), outside.get(member, 0))
            if end:
                found[one] = end
        return now, found

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
        return _session(document)

    async def change(self, session_id: str, step: Callable[[Draft], T]) -> tuple[T, Session]:
        """Do ``step`` on a draft of the session, give what waits to who is idle, and write it all
        at once; then see to it that what was given is run. ``step`` may be called several times and
        must not do anything but change its draft; what it raises changes nothing."""
        found: list[T] = []
        drafts: list[Draft] = []

        def plan(document: SessionDocument) -> RecordChange | None:
            known = document.record["companions"]
            if not set(known) <= set(ids):
                raise _OtherCompanions(tuple(known))
            draft = Draft(session_id, document.record, now=now, seated=seated)
            found[:] = [step(draft)]
            assign(draft)
            stating.end_if_done(draft)
            drafts[:] = [draft]
            members = draft.changed()
            if not members and not draft.events:
                return None
            closing = draft.head.state not in ("active", "paused")
            return RecordChange(events=draft.events, members=members, closing=closing)

        ids = self._known.get(session_id, ())
        while True:
            now, ends = await self.seated(ids, session_id)
            seated = frozenset(one for one, end in ends.items() if end > now)
            try:
                document = await self.records.update(session_id, plan, MEMBERS)
                break
            except _OtherCompanions as others:
                ids = others.ids
        self._known[session_id] = tuple(document.record["companions"])
        draft = drafts[0]
        if draft.events:
            await self._follow(draft)
        return found[0], draft.session(document.revision)

    async def delegate(self, session_id: str, order: Order) -> SessionTask:
        """Delegate one task; as it is now, queued or assigned. Raises SessionProblem,
        UnknownSkill, UnknownSession, InvalidWorkflow."""
        order = await self.checked(order)
        task_id = order.task_id or self.new_task_id()
        task, session = await self.change(
            session_id, lambda draft: delegating.delegate(draft, order, task_id)
        )
        return session.tasks.get(task_id, task)

    async def broadcast(self, session_id: str, asked: Broadcast) -> SessionTask:
        """Delegate one task to several; the task that stands for all of them."""
        asked = replace(asked, order=await self.checked(asked.order))
        task_id = asked.order.task_id or self.new_task_id()
        task, session = await self.change(
            session_id, lambda draft: delegating.broadcast(draft, asked, task_id)
        )
        return session.tasks.get(task_id, task)

    async def cancel(
        self, session_id: str, task_id: str, *, by: str, reason: str | None = None
    ) -> SessionTask:
        """Cancel a task, wherever it is; as it is then. Raises UnknownTask, TaskOver."""
        await self.change(
            session_id, lambda draft: delegating.cancel(draft, task_id, by=by, reason=reason)
        )
        session = await self.tick(session_id)
        return session.tasks.get(task_id) or await self.task(session_id, task_id)

    async def redelegate(
        self, session_id: str, task_id: str, companion_id: str | None, *, by: str, reason: str = ""
    ) -> SessionTask:
        """Take a task away from whoever has it, for ``companion_id`` or any that is suitable. It
        goes on in its run. Raises UnknownTask, TaskOver, UnknownCompanion."""

        def step(draft: Draft) -> None:
            delegating.check_conductor(draft, by)
            task = delegating.find_open_task(draft, task_id)
            to = None
            if companion_id is not None:
                to = delegating.find_companion(draft, companion_id).companion_id
            if to is None or to != task.companion_id:
                take_away(draft, task, reason or f"{by} gave it to another", to=to)

        _, session = await self.change(session_id, step)
        return session.tasks[task_id]

    async def task(self, session_id: str, task_id: str) -> SessionTask:
        """One task, also of the pages. Raises UnknownTask."""
        session = await self.get(session_id)
        if task_id in session.tasks:
            return session.tasks[task_id]
        for task in await self.closed(session_id):
            if task.task_id == task_id:
                return task
        raise UnknownTask(
            task_id=task_id, session_id=session_id, nearest=similar(task_id, session.tasks)
        )

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
            session_id, lambda draft: staffing.dismiss(draft, companion_id, by=by, reason=reason)
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

        await self.change(session_id, step)
        return await self.tick(session_id)

    async def tick(self, session_id: str) -> Session:
        """Bring the session up to what its runs, its clock and its seats say. What any change may
        have left undone when its process died is done here. Safe to repeat, from anywhere."""
        return await tick(self, session_id)

    # -- effects ----------------------------------------------------------------------------------

    async def start(self, session_id: str, task: SessionTask) -> None:
        """See to it that an assigned task has its run, in the pool of who has it. An answer that
        comes late changes nothing: moves are numbered."""
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
            raise TaskExists(task_id=task.task_id)
        if companion_pool is not None and run.pool != companion_pool and not run.is_over:
            reason = task.attempts[-2].why if len(task.attempts) > 1 else None
            await self.store.move(
                task.task_id,
                companion_pool,
                by=session_id,
                reason=reason or "",
                turn=len(task.attempts),
                revoke=True,
            )

    async def submit(self, session_id: str, task: SessionTask, store: Store) -> None:
        """Make the run of a task, in the pool of ``store``, unless it is there. Raises RunExists
        when another run has its id."""
        pins = {**(task.pins or {}), SESSION_PIN: session_id}
        value = await input_of(self.store, task)
        try:
            await submit(store, document_for(task), value, workflow_id=task.task_id, pins=pins)
        except RunExists:
            # It is there; the run of a task that it follows may be gone by now, and its result.
            if not is_of(await self.store.run(task.task_id), session_id):
                raise

    async def say(self, session_id: str, type_: str, **fields: JSON) -> None:
        """Add an event to the session's history; nothing else changes. Raises UnknownSession,
        SessionFull."""
        document = await self.records.read(session_id, ())
        await self.records.note(document, [{"type": type_, **fields}])

    def store_of(self, pool: str) -> Store:
        """A store whose runs are those of ``pool``."""
        found = self._stores.get(pool)
        if found is None:
            found = self.store.in_pool(pool)
            if len(self._stores) < _STORES:
                self._stores[pool] = found
        return found

    def _facts_of(self, store: Store) -> Facts:
        if not store.feeds_outbox:
            return Facts()
        return GraphFacts(Outbox(store.backend), self.closed)

    def new_task_id(self) -> str:
        return f"task-{self.store.new_id()[-16:]}"

    async def _follow(self, draft: Draft) -> None:
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
                await self.start(draft.session_id, task)
        await claims.sooner(self.backend, keys.SESSIONS_DUE, draft.session_id, draft.now + _SOON_MS)

    async def offer_seat(self, session_id: str, companion: Companion) -> None:
        """See to it that a companion process serves a companion that nobody ever served."""
        if companion.external:
            return
        member = seat_of(session_id, companion.companion_id)
        await claims.offer(self.backend, keys.COMPANIONS, member, companion.created_at)

    async def _drop_seat(self, session_id: str, companion_id: str) -> None:
        member = seat_of(session_id, companion_id)
        await claims.drop(self.backend, keys.COMPANIONS, [member])
        await claims.drop(self.backend, keys.EXTERNAL_COMPANIONS, [member])

    async def checked(self, order: Order) -> Order:
        """The order with its skills by their ids, its workflow checked, and pinned to the skills as
        they are now: whoever makes its run, later. Raises UnknownSkill, InvalidWorkflow."""
        skills = await self._resolved(order.skills)
        catalog = await self._catalog() if self._catalog is not None else None
        document = document_of_order(order, skills, catalog)
        return replace(order, skills=skills, pins=skill_pins(document, catalog))

    async def _resolved(self, refs: Sequence[str]) -> tuple[str, ...]:
        if self._catalog is None or not refs:
            return tuple(refs)
        catalog = await self._catalog()
        return tuple(dict.fromkeys(catalog.resolve(ref).manifest_id for ref in refs))


class _OtherCompanions(Exception):
    """The session has companions of whose seats nothing is known yet."""

    def __init__(self, ids: tuple[str, ...]) -> None:
        super().__init__()
        self.ids = ids


def _session(document: SessionDocument) -> Session:
    draft = Draft(document.id, document.record, now=document.updated_at)
    return draft.session(document.revision)
