"""A block as it shall be, and of when it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from dcf.sessions.session import Session
from dcf.workflow import iso


@dataclass(frozen=True, slots=True)
class Stamp:
    """Of when a block is: the ``revision`` of the session (of the guidelines: their own, with
    ``session_id`` None), and when that was written, as RFC 3339."""

    session_id: str | None
    revision: int
    updated_at: str

    @classmethod
    def of(cls, session: Session) -> Stamp:
        return cls(session.session_id, session.revision, iso(session.updated_at))

    @classmethod
    def read(cls, text: str) -> Stamp | None:
        """The stamp of a block's text; None if it has none."""
        try:
            value: Any = json.loads(text)
        except ValueError:
            return None
        if not isinstance(value, dict):
            return None
        revision, at = value.get("revision"), value.get("updated_at") or ""
        if type(revision) is not int or not isinstance(at, str):
            return None
        session_id = value.get("session_id")
        return cls(session_id if isinstance(session_id, str) else None, revision, at)

    def to_json(self) -> dict[str, Any]:
        return {
            "session_id": self.session_id,
            "revision": self.revision,
            "updated_at": self.updated_at,
        }

    def is_newer(self, than: Stamp | None) -> bool:
        """Whether a block that says ``than`` is out of date. Where an agent works in two sessions,
        its block shows the one that changed last."""
        if than is None:
            return True
        if self.session_id == than.session_id:
            return self.revision > than.revision
        return self.updated_at > than.updated_at


@dataclass(frozen=True, slots=True)
class Rendered:
    """The text that the block ``label`` shall have. ``limit`` is its most bytes."""

    label: str
    description: str
    limit: int
    stamp: Stamp
    text: str
