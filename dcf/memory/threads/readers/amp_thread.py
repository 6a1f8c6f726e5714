"""Threads of Amp: one JSON document each, ``~/.local/share/amp/threads/T-….json``, also what
``amp threads export`` writes.

``id`` (``T-`` and a UUID), ``title``, ``created`` (milliseconds), ``env.initial.trees[].uri`` and
``messages``: ``role`` (user, assistant, info), ``content`` of blocks ``text``, ``tool_use``
(``id``, ``name``, ``input``) and ``tool_result`` (``toolUseID``, ``run`` with ``status``
and ``result`` or ``error``), ``state`` (``type`` complete, cancelled …; ``stopReason``),
``meta.sentAt`` or
``usage.timestamp``. Described in https://docs.rs/txcript/latest/txcript/harness/amp/,
https://docs.rs/lore-cli/latest/lore_cli/capture/watchers/amp and
https://github.com/jonathan-kellerai/cross_agent_session_resumer (src/providers/amp.rs).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dcf.memory.thread import NewThread, NewTurn, ThreadStatus, ToolUse
from dcf.memory.threads.readers.entry import (
    Entry,
    as_text,
    object_of,
    objects_of,
    said_in,
    text_of,
    time_of,
    title_of,
)

_FAILED = frozenset({"error", "cancelled", "rejected-by-user"})


class AmpThread:
    """See the module."""

    name = "amp_thread"

    def recognises(self, value: Mapping[str, Any]) -> bool:
        return text_of(value, "id").startswith("T-") and isinstance(value.get("messages"), list)

    def threads(self, entries: Sequence[Entry], stem: str) -> Iterator[NewThread]:
        for entry in entries:
            messages = list(objects_of(entry.value, "messages"))
            turns = tuple(_turns(messages))
            asked = (turn.text for turn in turns if turn.role == "user" and turn.text)
            yield NewThread(
                source_type=self.name,
                source_id=text_of(entry.value, "id") or stem,
                project=_project(entry.value),
                title=title_of(text_of(entry.value, "title") or next(asked, "")),
                status=_status(messages),
                turns=turns,
                started_at=next((turn.at for turn in turns if turn.at is not None), None),
            )


def _turns(messages: Sequence[Mapping[str, Any]]) -> Iterator[NewTurn]:
    calls: dict[str, Mapping[str, Any]] = {}
    for message in messages:
        tools = []
        for block in objects_of(message, "content"):
            if block.get("type") == "tool_use":
                calls[text_of(block, "id")] = block
            elif block.get("type") == "tool_result":
                call = calls.pop(text_of(block, "toolUseID", "tool_use_id"), {})
                tools.append(_tool(call, block))
        text = said_in(message.get("content"))
        if text or tools:
            role = "tool" if tools and not text else text_of(message, "role") or "unknown"
            yield NewTurn(role, text, tuple(tools), _time(message))


def _tool(call: Mapping[str, Any], block: Mapping[str, Any]) -> ToolUse:
    run = object_of(block, "run")
    told = (run.get(name) for name in ("result", "error", "progress"))
    output = next((as_text(one) for one in told if one), "")
    return ToolUse(
        name=text_of(call, "name") or "unknown",
        input=object_of(call, "input"),
        output=output or as_text(block.get("content")),
        failed=run.get("status") in _FAILED,
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
