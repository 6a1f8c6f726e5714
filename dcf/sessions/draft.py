"""A session that is being changed: read from its record, changed in memory, written if nobody else
was faster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from control_plane import JSON
from dcf.sessions.companion import Companion
from dcf.sessions.session import Context, Counts, Head, Session
from dcf.sessions.task import SessionTask

MEMBERS = ("session", "context", "companions", "former", "tasks", "requests")
"""The members of a session's record that a change may touch, besides pages."""

PAGE = 50
"""So many closed tasks make a page of their own."""
_UNTOLD = 500


class Draft:
    """One change. ``now`` is Redis's clock in ms; ``seated`` the companions that somebody serves at
    the moment. What is done is kept in ``events``."""

    def __init__(
        self,
        session_id: str,
        record: Mapping[str, JSON],
        *,
        now: int,
        seated: frozenset[str] = frozenset(),
    ) -> None:
        self.session_id = session_id
        self.now = now
        self.seated = seated
        self.head = Head.parse(record["session"])
        self.context = Context.parse(record.get("context", {}))
        self.companions: dict[str, Companion] = _all(Companion, record.get("companions", {}))
        self.former: dict[str, Companion] = _all(Companion, record.get("former", {}))
        self.tasks: dict[str, SessionTask] = _all(SessionTask, record.get("tasks", {}))
        # Of a conductor by rule; sessions that never had one are without it.
        self.requests: Mapping[str, JSON] = record.get("requests", {})
        # Closed tasks on pages, as far as this change needs them.
        self.paged: Mapping[str, SessionTask] = {}
        self.events: list[dict[str, JSON]] = []
        self._before = self._members()
        self._pages: dict[str, dict[str, JSON]] = {}

    def tell(self, type_: str, **fields: JSON) -> None:
        """Add an event; members that are None are left out."""
        told = {name: value for name, value in fields.items() if value is not None}
        self.events.append({"type": type_, **told})

    def find(self, task_id: str) -> SessionTask | None:
        """A task, also one of ``paged``."""
        return self.tasks.get(task_id) or self.paged.get(task_id)

    def put(self, task: SessionTask) -> SessionTask:
        """Write a task."""
        self.tasks[task.task_id] = task
        return task

    def seat(self, companion: Companion) -> Companion:
        """Write a companion."""
        self.companions[companion.companion_id] = companion
        return companion

    def count(self, **more: int) -> None:
        """Count tasks: ``count(delegated=1)``."""
        counts = self.head.counts
        sums = {name: getattr(counts, name) + number for name, number in more.items()}
        self.head = replace(self.head, counts=replace(counts, **sums))

    def open_tasks(self) -> list[SessionTask]:
        return [task for task in self.tasks.values() if task.is_open]

    def turn_pages(self) -> None:
        """Move closed tasks that nobody waits for and the graph has to a page, once they are so
        many: what is written with each change stays small however long the session lasts."""
        awaited = {
            other
            for task in self.open_tasks()
            for other in (*task.after, task.group, *task.children)
        }
        # What nobody was told of by then stays untold: the session matters more.
        crowded = len(self.tasks) > _UNTOLD + len(self.open_tasks())
        closed = [
            task
            for task in self.tasks.values()
            if not task.is_open and (task.told or crowded) and task.task_id not in awaited
        ]
        for at in range(0, len(closed) - len(closed) % PAGE, PAGE):
            page = closed[at : at + PAGE]
            self._pages[page_name(self.head.pages)] = {
                task.task_id: replace(task, document=None).to_json() for task in page
            }
            self.head = replace(self.head, pages=self.head.pages + 1)
            for task in page:
                del self.tasks[task.task_id]

    def changed(self) -> dict[str, JSON]:
        """The members of the record that are another than they were."""
        self.turn_pages()
        now = self._members()
        found = {name: now[name] for name in MEMBERS if now[name] != self._before[name]}
        return {**found, **self._pages}

    def session(self, revision: int) -> Session:
        """The session as it is now."""
        return Session(
            self.session_id,
            revision,
            self.now,
            self.head,
            self.context,
            dict(self.companions),
            dict(self.former),
            dict(self.tasks),
            self.requests,
        )

    def _members(self) -> dict[str, Any]:
        return {
            "session": self.head.to_json(),
            "context": self.context.to_json(),
            "companions": _plain(self.companions),
            "former": _plain(self.former),
            "tasks": _plain(self.tasks),
            "requests": self.requests,
        }


def page_name(number: int) -> str:
    """The member of the record that holds this page of closed tasks."""
    return f"done_{number}"


def new_record(head: Head, context: Context) -> dict[str, JSON]:
    """The record of a session that begins."""
    return {
        "session": replace(head, counts=Counts()).to_json(),
        "context": context.to_json(),
        "companions": {},
        "former": {},
        "tasks": {},
    }


def _all(cls: Any, raw: Mapping[str, Any]) -> dict[str, Any]:
    return {name: cls.parse(one) for name, one in raw.items()}


def _plain(found: Mapping[str, Any]) -> dict[str, JSON]:
    return {name: one.to_json() for name, one in found.items()}
