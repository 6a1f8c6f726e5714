"""The closed tasks of sessions that were moved to pages, each page read once."""

from __future__ import annotations

from collections import OrderedDict

from control_plane import SessionStore
from dcf.sessions.draft import page_name
from dcf.sessions.session import Session
from dcf.sessions.task import SessionTask

_KEPT = 400
"""Pages; twenty thousand tasks."""
_Page = tuple[SessionTask, ...]
_Key = tuple[str, int, int]


class Pages:
    """A page never changes: however often a long session is looked at, each is read once."""

    def __init__(self, records: SessionStore) -> None:
        self._records = records
        self._kept: OrderedDict[_Key, _Page] = OrderedDict()

    async def of(self, session: Session) -> list[SessionTask]:
        """The tasks on its pages, the oldest page first. Raises UnknownSession where the session is
        gone by now."""
        # Another session may come to have the id.
        keys: list[_Key] = [
            (session.session_id, session.head.created_at, number)
            for number in range(session.head.pages)
        ]
        pages = {key: self._kept[key] for key in keys if key in self._kept}
        missing = [key for key in keys if key not in pages]
        if missing:
            names = [page_name(number) for _, _, number in missing]
            record = (await self._records.read(session.session_id, names)).record
            for key, name in zip(missing, names, strict=True):
                pages[key] = tuple(SessionTask.parse(raw) for raw in record[name].values())
        for key in keys:
            self._kept[key] = pages[key]
            self._kept.move_to_end(key)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return [task for key in keys for task in pages[key]]
