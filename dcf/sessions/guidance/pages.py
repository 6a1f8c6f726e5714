"""The closed tasks of sessions that were moved to pages, each page read once."""

from __future__ import annotations

from collections import OrderedDict

from dcf.sessions.draft import page_name
from dcf.sessions.session import Session
from dcf.sessions.sessions import Sessions
from dcf.sessions.task import SessionTask

_KEPT = 400
"""Pages; twenty thousand tasks."""
_Page = tuple[SessionTask, ...]
_Key = tuple[str, int, int]


class Pages:
    """A page never changes: however often a long session is looked at, each is read once."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._kept: OrderedDict[_Key, _Page] = OrderedDict()

    async def tasks(self, session: Session) -> list[SessionTask]:
        """All tasks of the session, but for broadcasts, in the order in which they were delegated.
        Raises UnknownSession where it is gone by now."""
        found = [task for page in await self._pages(session) for task in page]
        found += session.tasks.values()
        return sorted(
            (task for task in found if task.kind != "group"),
            key=lambda task: (task.delegated_at, task.task_id),
        )

    async def _pages(self, session: Session) -> list[_Page]:
        # Another session may come to have the id.
        keys: list[_Key] = [
            (session.session_id, session.head.created_at, number)
            for number in range(session.head.pages)
        ]
        pages = {key: self._kept[key] for key in keys if key in self._kept}
        missing = [key for key in keys if key not in pages]
        if missing:
            names = [page_name(number) for _, _, number in missing]
            record = (await self._sessions.records.read(session.session_id, names)).record
            for key, name in zip(missing, names, strict=True):
                pages[key] = tuple(SessionTask.parse(raw) for raw in record[name].values())
        for key in keys:
            self._kept[key] = pages[key]
            self._kept.move_to_end(key)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return [pages[key] for key in keys]
