"""Changing sessions: compare-and-set, whoever else changes them at the same moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from control_plane import RecordChange, SessionDocument, SessionStore, Store
from dcf.sessions import stating
from dcf.sessions.assigning import assign
from dcf.sessions.draft import MEMBERS, Draft
from dcf.sessions.order import Order
from dcf.sessions.running import TaskRuns
from dcf.sessions.session import Session
from dcf.sessions.task import SessionTask

T = TypeVar("T")


class SessionChanges(TaskRuns):
    """What all changes of sessions have in common."""

    def __init__(self, store: Store, records: SessionStore | None = None) -> None:
        super().__init__(store, records)
        self._known: dict[str, tuple[str, ...]] = {}

    def new_task_id(self) -> str:
        return f"task-{self.store.new_id()[-16:]}"

    async def change(
        self, session_id: str, step: Callable[[Draft], T], *, ends: bool = False
    ) -> tuple[T, Session]:
        """Do ``step`` on a draft of the session, give what waits to who is idle, and write it all
        at once; then see to it that what was given is run. ``step`` may be called several times and
        must not do anything but change its draft; what it raises changes nothing. A change that
        ``ends`` what was begun finds room in a full history. Raises UnknownSession, SessionFull."""
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
            closing = ends or draft.head.state not in ("active", "paused")
            return RecordChange(events=draft.events, members=members, closing=closing)

        ids = self._known.get(session_id, ())
        while True:
            now, seats = await self.seated(ids, session_id)
            seated = frozenset(one for one, end in seats.items() if end > now)
            try:
                document = await self.records.update(session_id, plan, MEMBERS)
                break
            except _OtherCompanions as others:
                ids = others.ids
        self._known[session_id] = tuple(document.record["companions"])
        draft = drafts[0]
        if draft.events:
            await self.follow(draft)
        return found[0], draft.session(document.revision)

    async def ordered(
        self,
        session_id: str,
        order: Order,
        ids: Sequence[str],
        step: Callable[[Draft, str], SessionTask],
    ) -> SessionTask:
        """The task that ``step`` makes of an order for which the caller chose ``ids``."""
        await self.check_ids(session_id, ids)
        task_id = order.task_id or self.new_task_id()
        meant = {*ids, *order.after}
        while True:
            before = await self.get(session_id) if meant else None
            paged = {} if before is None else await self._paged(before, meant)

            def on(
                draft: Draft,
                before: Session | None = before,
                paged: Mapping[str, SessionTask] = paged,
            ) -> SessionTask:
                if before is not None and draft.head.pages != before.head.pages:
                    raise _PageTurned
                draft.paged = paged
                return step(draft, task_id)

            try:
                task, session = await self.change(session_id, on)
            except _PageTurned:
                continue
            return session.tasks.get(task_id, task)

    async def _paged(self, session: Session, task_ids: Iterable[str]) -> dict[str, SessionTask]:
        """Those of the tasks that were moved to pages."""
        missing = set(task_ids) - set(session.tasks)
        if not missing or not session.head.pages:
            return {}
        return {one.task_id: one for one in await self.pages.of(session) if one.task_id in missing}


class _PageTurned(Exception):
    """Tasks were moved to a page since the pages were read."""


class _OtherCompanions(Exception):
    """The session has companions of whose seats nothing is known yet."""

    def __init__(self, ids: tuple[str, ...]) -> None:
        super().__init__()
        self.ids = ids
