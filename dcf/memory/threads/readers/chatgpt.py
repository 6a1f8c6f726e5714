"""Conversations in a data export of ChatGPT: ``conversations.json``, an array of trees. See
docs/reference/transcripts.md for where the format is described.

The branch that was taken ends at ``current_node``; the others were left, when a message was edited
or an answer was asked for again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dcf.memory.thread import NewTurn, Outline, ToolUse
from dcf.memory.threads.piece import Ended, Piece, Said
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

_TEXTS = frozenset(
    {
        *("text", "multimodal_text", "code", "execution_output", "tether_quote", "system_error"),
        *("tether_browsing_display", "reasoning_recap", "citable_code_output", "sonic_webpage"),
        *("computer_output", "super_widget", "app_pairing_content"),
    }
)
_SETTINGS = frozenset({"user_editable_context", "model_editable_context"})


class ChatGpt:
    """See the module."""

    name = "chatgpt"

    def recognises(self, value: Mapping[str, Any]) -> bool:
        nodes = value.get("mapping")
        return isinstance(nodes, dict) and all(
            isinstance(node, dict) and "children" in node for node in nodes.values()
        )

    def reading(self, path: Path, tally: Tally) -> Reading:
        return SimpleReading(_pieces, path, tally)


def _pieces(value: Mapping[str, Any], path: Path, tally: Tally) -> Iterator[Piece]:
    source_id = text_of(value, "conversation_id", "id") or text_of(value, "title") or path.stem
    nodes = {
        name: node for name, node in object_of(value, "mapping").items() if isinstance(node, dict)
    }
    current = text_of(value, "current_node")
    taken = set(_upwards(nodes, current if current in nodes else next(reversed(nodes), "")))
    left, asked = set[str](), ""
    for name in _downwards(nodes):
        if name not in taken:
            left.add(name)
        for turn in _turns(nodes, name, source_id, tally):
            if turn.role == "user" and not asked:
                asked = turn.text
            yield Said(source_id, turn, name)
    title, began = text_of(value, "title") or asked, time_of(value.get("create_time"))
    yield Ended(
        Outline(source_id, text_of(value, "gizmo_id"), title_of(title), started_at=began),
        frozenset(left),
    )


def _upwards(nodes: Mapping[str, Mapping[str, Any]], name: str) -> Iterator[str]:
    seen = set[str]()
    while name in nodes and name not in seen:
        seen.add(name)
        yield name
        name = text_of(nodes[name], "parent")


def _downwards(nodes: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Every node once, parents before their children."""
    seen = set[str]()
    roots = [name for name, node in nodes.items() if text_of(node, "parent") not in nodes]
    # Those in a circle have no root: they come last.
    waiting = [*reversed(list(nodes)), *reversed(roots)]
    while waiting:
        name = waiting.pop()
        if name in seen or name not in nodes:
            continue
        seen.add(name)
        yield name
        children = nodes[name].get("children")
        if isinstance(children, list):
            waiting += [one for one in reversed(children) if isinstance(one, str)]


def _turns(
    nodes: Mapping[str, Mapping[str, Any]], name: str, source_id: str, tally: Tally
) -> Iterator[NewTurn]:
    message = object_of(nodes[name], "message")
    content = object_of(message, "content")
    kind = text_of(content, "content_type")
    author = object_of(message, "author")
    role, at = text_of(author, "role") or "unknown", time_of(message.get("create_time"))
    if kind == "thoughts":
        tally.leave_out("thinking")
    elif kind in _SETTINGS:
        tally.leave_out(kind)
    elif kind in _TEXTS:
        text = _text(content)
        if not text.strip():
            return
        if role != "tool":
            yield NewTurn(role, text, at=at, key=name)
            return
        asked = object_of(nodes.get(text_of(nodes[name], "parent"), {}), "message")
        given = _text(object_of(asked, "content")) if text_of(asked, "recipient") != "all" else ""
        failed = object_of(message, "metadata").get("status") == "failed" or kind == "system_error"
        use = ToolUse(text_of(author, "name") or "unknown", {"input": given}, text, failed)
        yield NewTurn("tool", "", (use,), at, name)
    elif content:
        unknown = tally.keep_unknown(f"content {kind}", content, source_id, key=name, at=at)
        yield from (said.turn for said in unknown)


def _text(content: Mapping[str, Any]) -> str:
    parts = content.get("parts")
    if isinstance(parts, list):
        return "\n".join(text for part in parts if (text := _part(part)))
    title = text_of(content, "title", "url")
    text = text_of(content, "text", "result", "content", "summary")
    return f"{title}\n{text}" if title and text else text or title


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    text = text_of(part, "text")
    about = text_of(part, "asset_pointer", "name")
    kind = text_of(part, "content_type").removesuffix("_asset_pointer") or "part"
    if not text and isinstance(part.get("audio_asset_pointer"), dict):
        about = text_of(object_of(part, "audio_asset_pointer"), "asset_pointer")
    listed = [text_of(one, "text") for one in objects_of(part, "parts")]
    return text or "\n".join(listed) or f"[{kind} {about}]".replace(" ]", "]")
