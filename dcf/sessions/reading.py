"""Reading sessions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from control_plane import Backend, SessionDocument, SessionStore, Store, claims, keys
from dcf.sessions.draft import MEMBERS, Draft
from dcf.sessions.errors import TaskIdTaken, UnknownTask
from dcf.sessions.pages import Pages
from dcf.sessions.seat import seat_of
from dcf.sessions.session import Session
from dcf.sessions.similar import similar
from dcf.sessions.task import SessionTask
from dcf.sessions.task_run import is_of, whose_run


class SessionReader:
    """The sessions of the control plane of ``store``, as their records have them. ``records`` are
    those of a caller with a clock or randomness of its own."""

    def __init__(self, store: Store, records: SessionStore | None = None) -> None:
        self.store = store
        self.backend: Backend = store.backend
        self.records = records or SessionStore(
            store.backend, cluster=store.cluster, tokens=store.new_id
        )
        self.pages = Pages(self.records)

    async def get(self, session_id: str) -> Session:
        """The session. Raises UnknownSession."""
        return session_of(await self.records.read(session_id, MEMBERS))

    async def closed(self, session_id: str) -> list[SessionTask]:
        """The closed tasks that were moved to pages, the oldest first. Raises UnknownSession."""
        return await self.pages.of(await self.get(session_id))

    async def tasks(self, session_id: str) -> list[SessionTask]:
        """All tasks there ever were, in the order in which they were delegated."""
        found = [*await self.closed(session_id), *(await self.get(session_id)).tasks.values()]
        return sorted(found, key=lambda task: (task.delegated_at, task.task_id))

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

    async def check_ids(self, session_id: str, task_ids: Iterable[str]) -> None:
        """Raises TaskIdTaken when somebody else's run has one of these ids; BadName."""
        for run in await self.store.run_many(list(task_ids)):
            if not is_of(run, session_id):
                raise TaskIdTaken(task_id=run.workflow_id, whose=whose_run(run))


def session_of(document: SessionDocument) -> Session:
    """The session that a document holds."""
    draft = Draft(document.id, document.record, now=document.updated_at)
    return draft.session(document.revision)
