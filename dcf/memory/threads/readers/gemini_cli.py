"""Sessions of Gemini CLI: ``~/.gemini/tmp/<project>/chats/session-<time>-<id>.json``, one document,
or in later versions ``.jsonl``: messages that replace earlier ones of the same id, ``$set`` and
``$rewindTo``. See docs/reference/transcripts.md for where the format is described."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dcf.memory.thread import NewTurn, Outline, ToolUse
from dcf.memory.threads.piece import Ended, Piece, Said
from dcf.memory.threads.readers.entry import (
    Reading,
    as_text,
    object_of,
    objects_of,
    text_of,
    time_of,
    title_of,
)
from dcf.memory.threads.readers.json_stream import Entry
from dcf.memory.threads.readers.tally import Tally

_ROLES = {"user": "user", "gemini": "assistant", "model": "assistant", "info": "system"}
_FAILED = frozenset({"error", "cancelled"})


class GeminiCli:
    """See the module."""

    name = "gemini_cli"

    def recognises(self, value: Mapping[str, Any]) -> bool:
        return {"sessionId", "projectHash"} <= set(value)

    def reading(self, path: Path, tally: Tally) -> Reading:
        return _Reading(path.stem, tally)


@dataclass(slots=True)
class _Reading:
    """Messages are said at the end: any line may replace one, or take some back."""

    stem: str
    tally: Tally
    about: dict[str, Any] = field(default_factory=dict)
    messages: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    rewound: set[str] = field(default_factory=set)
    unknown: list[Mapping[str, Any]] = field(default_factory=list)

    def read(self, entry: Entry) -> Iterator[Piece]:
        value = entry.value
        if isinstance(value.get("$rewindTo"), str):
            standing = [key for key in self.messages if key not in self.rewound]
            to = value["$rewindTo"]
            self.rewound |= set(standing[standing.index(to) :] if to in standing else standing)
        elif "$set" in value:
            self._set(object_of(value, "$set"))
        elif "type" in value and ("content" in value or "toolCalls" in value):
            self._add(value)
        elif "sessionId" in value:
            self._set(value)
        else:
            self.unknown.append(value)
        return iter(())

    def end(self) -> Iterator[Piece]:
        source_id = text_of(self.about, "sessionId") or self.stem
        asked, turns = "", 0
        for key, message in self.messages.items():
            for turn in self._turns(key, message):
                asked = asked or (turn.text if turn.role == "user" else "")
                turns += 1
                yield Said(source_id, turn, key)
        for value in self.unknown:
            turns += 1
            yield from self.tally.keep_unknown("entry", value, source_id)
        if turns:
            yield Ended(
                Outline(
                    source_id,
                    next(iter(_texts(self.about.get("directories"))), "")
                    or text_of(self.about, "projectHash"),
                    title_of(text_of(self.about, "summary") or asked),
                    started_at=time_of(self.about.get("startTime")),
                ),
                frozenset(self.rewound),
            )

    def _set(self, about: Mapping[str, Any]) -> None:
        for message in objects_of(about, "messages"):
            self._add(message)
        self.about |= {key: value for key, value in about.items() if key != "messages"}

    def _add(self, message: Mapping[str, Any]) -> None:
        key = text_of(message, "id") or f"#{len(self.messages)}"
        self.messages[key] = message
        self.rewound.discard(key)

    def _turns(self, key: str, message: Mapping[str, Any]) -> Iterator[NewTurn]:
        kind, at = text_of(message, "type"), time_of(message.get("timestamp"))
        known = "" if key.startswith("#") else key
        self.tally.left_out["thinking"] += len(list(objects_of(message, "thoughts")))
        text = _parts(message.get("content"))
        if text.strip():
            yield NewTurn(_ROLES.get(kind, kind or "unknown"), text, at=at, key=known)
        for call in objects_of(message, "toolCalls"):
            told = call.get("result") or call.get("resultDisplay")
            use = ToolUse(
                text_of(call, "name") or "unknown",
                object_of(call, "args"),
                _parts(told),
                call.get("status") in _FAILED,
            )
            yield NewTurn("tool", "", (use,), time_of(call.get("timestamp")), text_of(call, "id"))


def _parts(content: Any) -> str:
    """The text of what is a text, a part, or a list of parts."""
    if isinstance(content, list):
        return "\n".join(text for one in content if (text := _parts(one)))
    if not isinstance(content, dict):
        return as_text(content)
    if isinstance(content.get("text"), str):
        return str(content["text"])
    answer = object_of(object_of(content, "functionResponse"), "response")
    if answer:
        return text_of(answer, "output", "error") or as_text(dict(answer))
    for name in ("inlineData", "fileData"):
        if name in content:
            about = text_of(object_of(content, name), "fileUri", "mimeType")
            return f"[file {about}]"
    return as_text(content)


def _texts(values: Any) -> Iterator[str]:
    yield from (one for one in values if isinstance(one, str)) if isinstance(values, list) else ()
