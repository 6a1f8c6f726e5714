"""Threads of Amp: one JSON document each, ``~/.local/share/amp/threads/T-….json``, also what
``amp threads export`` writes. See docs/reference/transcripts.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dcf.memory.thread import Outline, ThreadStatus
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


class AmpThread:
    """See the module."""

    name = "amp_thread"

    def recognises(self, value: Mapping[str, Any]) -> bool:
        return text_of(value, "id").startswith("T-") and isinstance(value.get("messages"), list)

    def reading(self, path: Path, tally: Tally) -> Reading:
        return SimpleReading(_pieces, path, tally)


def _pieces(value: Mapping[str, Any], path: Path, tally: Tally) -> Iterator[Piece]:
    source_id = text_of(value, "id") or path.stem
    conversation = Conversation(tally)
    said: list[Said] = []
    messages = list(objects_of(value, "messages"))
    for message in messages:
        number = message.get("messageId")
        key = f"{number}" if isinstance(number, int | str) and number != "" else ""
        role = text_of(message, "role") or "unknown"
        about = Message(source_id, role, key, _time(message))
        said += conversation.said(about, message.get("content"))
    said += conversation.end()
    yield from said
    asked = next((one.turn.text for one in said if one.turn.role == "user"), "")
    began = next((one.turn.at for one in said if one.turn.at is not None), None)
    created = time_of(value.get("created"))
    yield Ended(
        Outline(
            source_id,
            _project(value),
            title_of(text_of(value, "title") or asked),
            _status(messages),
            began if created is None else created,
        )
    )


def _time(message: Mapping[str, Any]) -> int | None:
    sent = object_of(message, "meta").get("sentAt")
    at = time_of(sent)
    return time_of(object_of(message, "usage").get("timestamp")) if at is None else at


def _project(value: Mapping[str, Any]) -> str:
    initial = object_of(object_of(value, "env"), "initial")
    tree = next(objects_of(initial, "trees"), {})
    return text_of(tree, "uri").removeprefix("file://") or text_of(tree, "displayName")


def _status(messages: Sequence[Mapping[str, Any]]) -> ThreadStatus:
    state = object_of(messages[-1], "state") if messages else {}
    if state.get("type") == "cancelled":
        return "abandoned"
    return "completed" if state.get("stopReason") == "end_turn" else "active"
