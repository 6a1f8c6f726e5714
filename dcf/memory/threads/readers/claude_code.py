"""Sessions of Claude Code: ``~/.claude/projects/<project>/<session>.jsonl``, and those of its
subagents in ``<session>/subagents/agent-<id>.jsonl`` or, in earlier versions, in the session's own
file. See docs/reference/transcripts.md for where the format is described.

Lines point to the one before them (``parentUuid``). A prompt that was written in the place of
another has the same predecessor: what followed on the other one is a branch that was left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from dcf.memory.thread import NewTurn, Outline, ThreadStatus
from dcf.memory.threads.piece import Ended, Piece, Said
from dcf.memory.threads.readers.blocks import Conversation, Message
from dcf.memory.threads.readers.entry import (
    Reading,
    object_of,
    objects_of,
    text_of,
    time_of,
    title_of,
)
from dcf.memory.threads.readers.json_stream import Entry
from dcf.memory.threads.readers.tally import Tally

_SAID = ("user", "assistant")
_TITLES = {"summary": "summary", "custom-title": "customTitle", "ai-title": "aiTitle"}
_BOOKKEEPING = frozenset(
    {
        *("progress", "file-history-snapshot", "queue-operation", "last-prompt", "pr-link"),
        *("permission-mode", "mode", "agent-name", "agent-color", "agent-setting", "tag"),
        *("worktree-state", "attribution-snapshot", "content-replacement", "task-summary"),
        *("speculation-accept", "bridge-session", "started", "result", "relocated"),
        *("file-history-delta", "fork-context-ref"),
    }
)
_AGENT = "agent-"

_Kind = Literal["prompt", "said", "other"]


@dataclass(slots=True)
class _Node:
    parent: str
    kind: _Kind


@dataclass(slots=True)
class _Session:
    """A thread that is read."""

    source_id: str
    parent: str
    conversation: Conversation
    nodes: dict[str, _Node] = field(default_factory=dict)
    last: str = ""
    project: str = ""
    asked: str = ""
    started_at: int | None = None
    status: ThreadStatus = "active"
    turns: int = 0


class ClaudeCode:
    """See the module."""

    name = "claude_code"

    def recognises(self, value: Mapping[str, Any]) -> bool:
        kind = value.get("type")
        if kind in _SAID:
            return "sessionId" in value and isinstance(value.get("message"), dict)
        if kind == "summary":
            return "leafUuid" in value
        return kind == "file-history-snapshot" or {"sessionId", "uuid", "parentUuid"} <= set(value)

    def reading(self, path: Path, tally: Tally) -> Reading:
        return _Reading(path.stem, tally)


class _Reading:
    def __init__(self, stem: str, tally: Tally) -> None:
        self._stem = stem
        self._tally = tally
        self._sessions: dict[str, _Session] = {}
        self._roots: dict[str, str] = {}
        self._title = ""

    def read(self, entry: Entry) -> Iterator[Piece]:
        value = entry.value
        kind = text_of(value, "type")
        if kind in _TITLES:
            self._title = text_of(value, _TITLES[kind]) or self._title
            return
        session = self._session(value)
        node = self._node(session, value, kind)
        if kind in _SAID:
            said = self._message(session, value, kind, node)
        elif kind == "system":
            said = self._system(session, value, node)
        elif kind == "attachment":
            said = self._attachment(session, value, node)
        elif kind in _BOOKKEEPING:
            self._tally.leave_out(kind)
            return
        else:
            key, at = text_of(value, "uuid"), time_of(value.get("timestamp"))
            said = self._tally.keep_unknown(kind, value, session.source_id, key=key, at=at)
        for one in said:
            session.turns += 1
            if session.started_at is None:
                session.started_at = one.turn.at
            if one.turn.role == "user" and not session.asked:
                session.asked = one.turn.text
            yield one

    def end(self) -> Iterator[Piece]:
        for session in self._sessions.values():
            pending = list(session.conversation.end())
            yield from pending
            if session.turns or pending:
                title = "" if session.parent else self._title
                outline = Outline(
                    session.source_id,
                    session.project,
                    title_of(title or session.asked),
                    session.status,
                    session.started_at,
                    session.parent,
                )
                yield Ended(outline, frozenset(_left(session)))

    def _session(self, value: Mapping[str, Any]) -> _Session:
        own = text_of(value, "sessionId") or self._stem
        agent, parent = text_of(value, "agentId"), ""
        if value.get("isSidechain") is True:
            parent = own
            source_id = f"{own}:{agent or self._root(value)}"
        elif agent and self._stem.startswith(_AGENT):
            parent, source_id = own, f"{own}:{agent}"
        else:
            # A session that was continued has lines with the ids of earlier ones; its file's name
            # is its own.
            source_id = self._stem if _is_uuid(self._stem) else own
        if source_id not in self._sessions:
            self._sessions[source_id] = _Session(source_id, parent, Conversation(self._tally))
        session = self._sessions[source_id]
        session.project = session.project or text_of(value, "cwd")
        return session

    def _root(self, value: Mapping[str, Any]) -> str:
        """The first line of the branch, for agents that have no id."""
        uuid, parent = text_of(value, "uuid"), text_of(value, "parentUuid")
        root = self._roots.get(parent) or uuid or "sidechain"
        self._roots[uuid] = root
        return root

    def _node(self, session: _Session, value: Mapping[str, Any], kind: str) -> str:
        uuid = text_of(value, "uuid")
        if uuid:
            parent = text_of(value, "parentUuid", "logicalParentUuid")
            known: _Kind = "other"
            if kind in _SAID:
                known = "prompt" if _is_prompt(value) else "said"
                session.last = uuid
            session.nodes[uuid] = _Node(parent, known)
        return uuid

    def _message(
        self, session: _Session, value: Mapping[str, Any], kind: str, node: str
    ) -> Iterator[Said]:
        message = object_of(value, "message")
        role = "assistant" if kind == "assistant" else "user"
        if value.get("isCompactSummary") is True:
            role = "summary"
        elif value.get("isMeta") is True:
            role = "system"
        session.status = "completed" if message.get("stop_reason") == "end_turn" else "active"
        about = Message(session.source_id, role, node, time_of(value.get("timestamp")), node)
        return session.conversation.said(about, message.get("content"))

    def _system(self, session: _Session, value: Mapping[str, Any], node: str) -> Iterator[Said]:
        text = text_of(value, "content")
        if text:
            turn = NewTurn("system", text, at=time_of(value.get("timestamp")), key=node)
            yield Said(session.source_id, turn, node)
        else:
            self._tally.leave_out(f"system {text_of(value, 'subtype')}".strip())

    def _attachment(self, session: _Session, value: Mapping[str, Any], node: str) -> Iterator[Said]:
        attached = object_of(value, "attachment")
        kind = text_of(attached, "type")
        if kind == "queued_command" and attached.get("prompt"):
            at = time_of(value.get("timestamp"))
            about = Message(session.source_id, "user", node, at, node)
            yield from session.conversation.said(about, attached.get("prompt"))
        else:
            self._tally.leave_out(f"attachment {kind}".strip())


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _is_prompt(value: Mapping[str, Any]) -> bool:
    """Whether a person wrote the line."""
    if value.get("type") != "user" or value.get("isMeta") or value.get("isCompactSummary"):
        return False
    message = object_of(value, "message")
    if isinstance(message.get("content"), str):
        return True
    return all(block.get("type") != "tool_result" for block in objects_of(message, "content"))


def _left(session: _Session) -> Iterator[str]:
    """The lines on branches that were left."""
    nodes = session.nodes
    # What the branch that was taken goes on with, by what it goes on from.
    taken = {_before(nodes, uuid): uuid for uuid in _upwards(nodes, session.last)}
    on_it = set(taken.values())
    known: dict[str, bool] = {}
    for uuid in nodes:
        way: dict[str, None] = {}
        at, left = uuid, False
        while at in nodes and at not in way:
            if at in known:
                left = known[at]
                break
            way[at] = None
            if at in on_it:
                break
            other = taken.get(_before(nodes, at), "")
            left = _is(nodes, at, "prompt") and _is(nodes, other, "prompt")
            if left:
                break
            at = nodes[at].parent
        known |= dict.fromkeys(way, left)
        if left:
            yield uuid


def _upwards(nodes: Mapping[str, _Node], uuid: str) -> Iterator[str]:
    """The lines that were said, from ``uuid`` to the first. A circle is gone round once."""
    seen = set[str]()
    while uuid in nodes and uuid not in seen:
        seen.add(uuid)
        yield uuid
        uuid = _before(nodes, uuid)


def _before(nodes: Mapping[str, _Node], uuid: str) -> str:
    """The line that was said before; bookkeeping is no part of the conversation."""
    seen = {uuid}
    at = nodes[uuid].parent if uuid in nodes else ""
    while at in nodes and nodes[at].kind == "other" and at not in seen:
        seen.add(at)
        at = nodes[at].parent
    return at


def _is(nodes: Mapping[str, _Node], uuid: str, kind: _Kind) -> bool:
    return uuid in nodes and nodes[uuid].kind == kind
