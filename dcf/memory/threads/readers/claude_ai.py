"""Conversations in a data export of Claude: ``conversations.json``, an array, each with its
``chat_messages``. See docs/reference/transcripts.md for where the format is described."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dcf.memory.thread import NewTurn, Outline
from dcf.memory.threads.piece import Ended, Piece, Said
from dcf.memory.threads.readers.blocks import Conversation, Message
from dcf.memory.threads.readers.entry import (
    Reading,
    SimpleReading,
    object_of,
    objects_of,
    text_of,
    time_of,
    title_of,
)
from dcf.memory.threads.readers.tally import Tally

_ROLES = {"human": "user"}


class ClaudeAi:
    """See the module."""

    name = "claude_ai"

    def recognises(self, value: Mapping[str, Any]) -> bool:
        return isinstance(value.get("chat_messages"), list)

    def reading(self, path: Path, tally: Tally) -> Reading:
        return SimpleReading(_pieces, path, tally)


def _pieces(value: Mapping[str, Any], path: Path, tally: Tally) -> Iterator[Piece]:
    source_id = text_of(value, "uuid", "conversation_id") or text_of(value, "name") or path.stem
    conversation, asked = Conversation(tally), ""
    messages = list(objects_of(value, "chat_messages"))
    for message in messages:
        for said in _said(conversation, source_id, message):
            asked = asked or (said.turn.text if said.turn.role == "user" else "")
            yield said
    yield from conversation.end()
    yield Ended(
        Outline(
            source_id,
            text_of(object_of(value, "project"), "name"),
            title_of(text_of(value, "name") or asked),
            started_at=time_of(value.get("created_at")),
        ),
        _left(messages, text_of(value, "current_leaf_message_uuid")),
    )


def _said(conversation: Conversation, source_id: str, message: Mapping[str, Any]) -> Iterator[Said]:
    sender = text_of(message, "sender") or "unknown"
    key, at = text_of(message, "uuid"), time_of(message.get("created_at"))
    about = Message(source_id, _ROLES.get(sender, sender), key, at, key)
    content = message.get("content")
    # Earlier exports have the text alone; later ones both.
    yield from conversation.said(about, content if content else text_of(message, "text"))
    for number, one in enumerate(objects_of(message, "attachments"), start=1):
        text = f"[attachment {text_of(one, 'file_name')}]\n{text_of(one, 'extracted_content')}"
        own = f"{key}#{number}" if key else ""
        yield Said(source_id, NewTurn(about.role, text.strip(), at=at, key=own), key)
    names = [text_of(one, "file_name") for one in objects_of(message, "files")]
    if any(names):
        own = f"{key}#files" if key else ""
        text = "\n".join(f"[file {name}]" for name in names if name)
        yield Said(source_id, NewTurn(about.role, text, at=at, key=own), key)


def _left(messages: Sequence[Mapping[str, Any]], leaf: str) -> frozenset[str]:
    """The messages that are not on the branch which ends at ``leaf``, or at the last one."""
    parents = {
        text_of(one, "uuid"): text_of(one, "parent_message_uuid")
        for one in messages
        if text_of(one, "uuid")
    }
    if not any(parents.values()):
        return frozenset()
    at = leaf if leaf in parents else next(reversed(parents), "")
    taken = set[str]()
    while at in parents and at not in taken:
        taken.add(at)
        at = parents[at]
    return frozenset(parents) - taken
