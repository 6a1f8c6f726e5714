"""Sessions of opencode: what ``opencode export`` writes, and its storage in files, where a session
(``storage/session/<project>/<id>.json``) has its messages and their parts beside it. See
docs/reference/transcripts.md for where the format is described."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dcf.memory.thread import NewTurn, Outline, ThreadStatus, ToolUse
from dcf.memory.threads.piece import Ended, Piece, Said
from dcf.memory.threads.readers.content import opened
from dcf.memory.threads.readers.entry import (
    Reading,
    SimpleReading,
    as_text,
    media_in,
    object_of,
    objects_of,
    text_of,
    time_of,
    title_of,
)
from dcf.memory.threads.readers.json_stream import entries
from dcf.memory.threads.readers.tally import Tally

_QUIET = frozenset({"reasoning", "step-start", "step-finish", "snapshot", "patch", "agent"})
_QUIET |= {"subtask", "retry", "compaction"}


class Opencode:
    """See the module."""

    name = "opencode"

    def recognises(self, value: Mapping[str, Any]) -> bool:
        if isinstance(value.get("messages"), list) and _is_session(object_of(value, "info")):
            return True
        return _is_session(value)

    def reading(self, path: Path, tally: Tally) -> Reading:
        return SimpleReading(_session, path, tally)


def _session(value: Mapping[str, Any], path: Path, tally: Tally) -> Iterator[Piece]:
    if "info" in value:
        return _pieces(object_of(value, "info"), objects_of(value, "messages"), tally)
    return _pieces(value, _stored(path, text_of(value, "id"), tally), tally)


def _is_session(info: Mapping[str, Any]) -> bool:
    return text_of(info, "id").startswith("ses") and "time" in info


def _stored(path: Path, session: str, tally: Tally) -> Iterator[Mapping[str, Any]]:
    """The messages of a session in the storage, in the order of their ids."""
    root = path.parents[2] if len(path.parents) > 2 else path.parent
    tally.spread = True
    for message in _values(root / "message" / Path(session).name, tally):
        name = Path(text_of(message, "id")).name
        parts = list(_values(root / "part" / name, tally)) if name else []
        yield {"info": message, "parts": parts}


def _values(folder: Path, tally: Tally) -> Iterator[Mapping[str, Any]]:
    for path in sorted(folder.glob("*.json")):
        try:
            with opened(path, follow=False) as content:
                for entry in entries(content.chunks(), tally):
                    yield entry.value
        except OSError as error:
            tally.report("transcript-unreadable", f"{path}: {error.strerror or error}")


def _pieces(
    info: Mapping[str, Any], messages: Iterator[Mapping[str, Any]], tally: Tally
) -> Iterator[Piece]:
    source_id, turns, last = text_of(info, "id") or "session", 0, object_of(info, "none")
    asked = ""
    for message in messages:
        last = object_of(message, "info")
        for said in _turns(source_id, message, tally):
            asked = asked or (said.turn.text if said.turn.role == "user" else "")
            turns += 1
            yield said
    times = object_of(info, "time")
    status: ThreadStatus = "completed" if last.get("finish") == "stop" else "active"
    yield Ended(
        Outline(
            source_id,
            text_of(info, "directory"),
            title_of(text_of(info, "title") or asked),
            status,
            time_of(times.get("created")),
            text_of(info, "parentID"),
        )
    )


def _turns(source_id: str, message: Mapping[str, Any], tally: Tally) -> Iterator[Said]:
    info = object_of(message, "info")
    role, at = text_of(info, "role") or "unknown", time_of(object_of(info, "time").get("created"))
    for part in objects_of(message, "parts"):
        kind, key = text_of(part, "type"), text_of(part, "id")
        if kind == "text":
            if text_of(part, "text"):
                said = "system" if part.get("synthetic") is True else role
                yield Said(source_id, NewTurn(said, text_of(part, "text"), at=at, key=key))
        elif kind == "tool":
            yield Said(source_id, NewTurn("tool", "", (_tool(part),), at, key))
        elif kind == "file":
            yield Said(source_id, NewTurn(role, media_in({**part, "type": "file"}), at=at, key=key))
        elif kind in _QUIET:
            tally.leave_out(kind)
        else:
            yield from tally.keep_unknown(f"part {kind}", part, source_id, key=key, at=at)


def _tool(part: Mapping[str, Any]) -> ToolUse:
    state = object_of(part, "state")
    output = state.get("output") or state.get("error")
    name = text_of(part, "tool") or "unknown"
    return ToolUse(name, object_of(state, "input"), as_text(output), state.get("status") == "error")
