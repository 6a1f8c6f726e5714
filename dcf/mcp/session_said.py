"""What was said in a session, read from its history as far as it is not known yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from control_plane import JSON, read_record_history
from dcf.sessions import Sessions
from dcf.sessions.conductor import shown

SAID = "Said"


@dataclass(slots=True)
class SessionSaid:
    """``asked`` are the requests that were made, ``answers`` the last answer to each; ``results``
    the tasks that ended and of which the conductor was not told yet, in order."""

    after: str = "-"
    asked: set[str] = field(default_factory=set)
    answers: dict[str, str] = field(default_factory=dict)
    results: dict[str, None] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)

    async def follow(self, sessions: Sessions, session_id: str) -> None:
        """Read on. Raises UnknownSession, CorruptHistory."""
        async for one in read_record_history(sessions.records, session_id, after=self.after):
            event = one.event
            if event["type"] == SAID:
                self._said(event)
            elif event["type"] == "TaskSettled" and event["task_id"] not in self.told:
                self.results[str(event["task_id"])] = None
            self.after = one.entry

    def _said(self, event: dict[str, JSON]) -> None:
        request = str(event.get("request") or "")
        if event.get("role") == "user":
            self.asked.add(request)
            return
        self.answers[request] = str(event.get("text") or "")
        tasks = event.get("tasks")
        for task_id in tasks if isinstance(tasks, list) else ():
            self.told.add(str(task_id))
            self.results.pop(str(task_id), None)


async def say(
    sessions: Sessions,
    session_id: str,
    role: str,
    text: str,
    request: str,
    tasks: Sequence[str] = (),
) -> None:
    """Keep in the session that something was said; ``tasks`` are those whose results the conductor
    was told of then. Raises UnknownSession, SessionFull."""
    more: dict[str, JSON] = {"tasks": list(tasks)} if tasks else {}
    await sessions.say(session_id, SAID, role=role, text=shown(text), request=request, **more)
