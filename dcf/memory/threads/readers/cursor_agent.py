"""Transcripts of Cursor's agents: ``agent-transcripts/<id>/<id>.jsonl`` in
``~/.cursor/projects/<project>``, and those of the agents that they sent, ``subagents/<id>.jsonl``
beside it. See docs/reference/transcripts.md for where the format is described.

Lines have no ids and no times, and calls of tools no results. What a user wrote stands in
``<user_query>``; the rest of such a text is what Cursor says of the project.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from dcf.memory.checking import kept_time
from dcf.memory.thread import NewTurn, Outline, ThreadStatus
from dcf.memory.threads.piece import Ended, Piece, Said
from dcf.memory.threads.readers.blocks import Conversation, Message
from dcf.memory.threads.readers.entry import Reading, object_of, text_of, title_of
from dcf.memory.threads.readers.json_stream import Entry
from dcf.memory.threads.readers.tally import Tally

_FOLDER = "agent-transcripts"
_SENT = "subagents"
_ENDED = "turn_ended"
_TIME = re.compile(r"\s*<timestamp>(.*?)</timestamp>\s*")
_ZONE = re.compile(r"(.+) \(UTC(?:([+-])(\d{1,2})(?::(\d\d))?)?\)")
_QUERY = re.compile(r"(.*?)<user_query>\n?(.*)\n?</user_query>(.*)", re.DOTALL)


class CursorAgent:
    """See the module."""

    name = "cursor_agent"

    def recognises(self, value: Mapping[str, Any]) -> bool:
        said = value.get("role") in ("user", "assistant") and "content" in object_of(
            value, "message"
        )
        return said and not {"type", "sessionId", "uuid"} & set(value)

    def reading(self, path: Path, tally: Tally) -> Reading:
        return _Reading(path, tally)


@dataclass(slots=True)
class _Reading:
    path: Path
    tally: Tally
    asked: str = ""
    turns: int = 0
    began: int | None = None
    status: ThreadStatus = "active"

    @property
    def source_id(self) -> str:
        return self.path.stem

    def read(self, entry: Entry) -> Iterator[Piece]:
        value = entry.value
        self.status = "active"
        if value.get("type") == _ENDED:
            self.tally.leave_out(_ENDED)
            self.status = "completed" if value.get("status") == "success" else "active"
            return
        for said in self._said(value):
            self.turns += 1
            yield said

    def end(self) -> Iterator[Piece]:
        if self.turns:
            folder = self.path.parent
            parent = folder.parent.name if folder.name == _SENT else ""
            kept_in = (one.parent.name for one in self.path.parents if one.name == _FOLDER)
            project, title = next(kept_in, ""), title_of(self.asked)
            yield Ended(Outline(self.source_id, project, title, self.status, self.began, parent))

    def _said(self, value: Mapping[str, Any]) -> Iterator[Said]:
        role, content = text_of(value, "role"), object_of(value, "message").get("content")
        if role not in ("user", "assistant") or content is None:
            kind = text_of(value, "type", "role") or "entry"
            yield from self.tally.keep_unknown(kind, value, self.source_id)
            return
        conversation = Conversation(self.tally)
        for said in conversation.said(Message(self.source_id, role), content):
            if said.turn.role == "user":
                yield from self._query(said.turn.text)
            else:
                yield said
        # A call is never told with its result.
        yield from conversation.end()

    def _query(self, text: str) -> Iterator[Said]:
        """What the user wrote, behind what Cursor says of the project."""
        stamp = _TIME.match(text)
        at = _moment(stamp[1]) if stamp else None
        self.began = at if self.began is None else self.began
        rest = text[stamp.end() :] if stamp and at is not None else text
        found = _QUERY.fullmatch(rest)
        around, asked = (f"{found[1]}{found[3]}", found[2]) if found else ("", rest)
        for role, part in (("system", around), ("user", asked)):
            if part.strip():
                yield Said(self.source_id, NewTurn(role, part.strip("\n"), at=at))
        self.asked = self.asked or asked


def _moment(text: str) -> int | None:
    """``Sunday, Sep 20, 2026, 12:31 AM (UTC+3)`` in ms since the epoch."""
    zoned = _ZONE.fullmatch(text.strip())
    if zoned is None:
        return None
    ahead = f"{zoned[2] or '+'}{int(zoned[3] or 0):02}{zoned[4] or '00'}"
    try:
        said = datetime.strptime(f"{zoned[1]} {ahead}", "%A, %b %d, %Y, %I:%M %p %z")
        return kept_time(said)
    except ValueError:
        return None
