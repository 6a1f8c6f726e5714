"""Records of sessions: what was ordered in one and who does it."""

from __future__ import annotations

from typing import ClassVar

from control_plane.errors import SessionBusy, SessionExists, SessionFull, UnknownSession
from control_plane.record_document import RecordDocument
from control_plane.record_kind import RecordKind
from control_plane.records import RecordStore


class SessionDocument(RecordDocument):
    """The record of a session."""

    __slots__ = ()
    ID_MEMBER: ClassVar[str] = "session_id"

    @property
    def session_id(self) -> str:
        return self.id


SESSIONS = RecordKind(
    noun="session",
    document=SessionDocument,
    place="sess",
    index="sessions",
    suffix=":doc",
    # No dot, colon or slash: a session is also a folder, and the first half of the name of a seat.
    ids=r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}",
    rule="1 to 64 letters, digits and _ -, a letter or digit first",
    unknown=UnknownSession,
    exists=SessionExists,
    busy=SessionBusy,
    full=SessionFull,
    most=100_000,
    notes=80_000,
)


class SessionStore(RecordStore[SessionDocument]):
    """The records of sessions: ``cp:sess:{id}:doc``. Nothing of a history is ever dropped: at
    100,000 events a change with events raises SessionFull, unless it is a ``closing`` one, and a
    note at 80,000."""

    kind = SESSIONS


def check_session_id(session_id: str) -> str:
    """``session_id`` itself. Raises BadName unless it matches
    ``[A-Za-z0-9][A-Za-z0-9_-]{0,63}``."""
    return SESSIONS.check_id(session_id)
