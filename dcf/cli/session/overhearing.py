"""What is said in a session by others than one conversation."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass

from control_plane import RecordTail, read_record_history
from dcf.sessions import Sessions
from dcf.sessions.conductor import Reply, shown


@dataclass(frozen=True, slots=True)
class Said:
    """``role`` is user or conductor, ``request`` what it belongs to ("": nothing)."""

    role: str
    text: str
    request: str


class Overhearing:
    """From ``begin`` on. What the conversation heard itself it says here, and is not told again.
    ``news`` is what it was not told yet."""

    def __init__(self, sessions: Sessions, session_id: str) -> None:
        self._sessions = sessions
        self._session_id = session_id
        self.news: deque[Said] = deque()
        self._after: str | None = None
        self._asked: set[str] = set()
        self._heard: defaultdict[str, list[str]] = defaultdict(list)

    async def begin(self) -> None:
        """Leave out what was said before; only the first time."""
        if self._after is None:
            records, backend = self._sessions.records, self._sessions.backend
            self._after = await RecordTail(records, self._session_id, reads=backend).begin()

    def asked(self, request: str) -> None:
        """The conversation made this request."""
        self._asked.add(request)

    def is_ours(self, request: str) -> bool:
        return request in self._asked

    def heard(self, reply: Reply) -> None:
        """The conversation heard this."""
        self._heard[reply.request].append(shown(reply.text))

    async def read(self) -> None:
        """Add what came since to ``news``. Raises UnknownSession, CorruptHistory."""
        assert self._after is not None
        events = read_record_history(self._sessions.records, self._session_id, after=self._after)
        async for one in events:
            self._after = one.entry
            if one.event["type"] == "Said":
                event = one.event
                said = Said(str(event["role"]), str(event["text"]), str(event.get("request") or ""))
                if not self._knows(said):
                    self.news.append(said)

    def _knows(self, said: Said) -> bool:
        if said.role == "user":
            return said.request in self._asked
        # The last answer to a session says what came of its requests, too.
        return said.text in self._heard[said.request] or any(
            said.text in text for text in self._heard[""]
        )
