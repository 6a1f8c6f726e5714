"""Sessions of coding agents as Claude Code keeps them: ``~/.claude/projects/<project>/<id>.jsonl``.

One object a line with ``type``, ``sessionId``, ``cwd``, ``timestamp``, ``isSidechain`` and, for the
types ``user`` and ``assistant``, ``message`` with ``role`` and ``content``: a text, or blocks
``text``, ``tool_use`` (``id``, ``name``, ``input``) and ``tool_result`` (``tool_use_id``,
``content``, ``is_error``). Lines of other types are bookkeeping. The format is not specified by its
maker; described in https://forge.lthn.ai/core/go-session/wiki/Session-Format.- and
https://evilpiepirate.org/forge/kent/consciousness (doc/claude-code-transcript-format.md).

A call is told in the turn of its result, not in that of its question: so a turn that was read is
never changed by lines that come later.
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

_ROLES = ("user", "assistant")


class AgentSession:
    """See the module."""

    name = "agent_session"

    def recognises(self, value: Mapping[str, Any]) -> bool:
        return "sessionId" in value and isinstance(value.get("type"), str)

    def threads(self, entries: Sequence[Entry], stem: str) -> Iterator[NewThread]:
        sessions: dict[str, list[Mapping[str, Any]]] = {}
        for entry in entries:
            if entry.value.get("type") in _ROLES and entry.value.get("isSidechain") is not True:
                sessions.setdefault(text_of(entry.value, "sessionId") or stem, []).append(
                    entry.value
                )
        summary = next(
            (text_of(one.value, "summary") for one in entries if "summary" in one.value), ""
        )
        for session, lines in sessions.items():
            turns = tuple(_turns(lines))
            asked = (turn.text for turn in turns if turn.role == "user" and turn.text)
            yield NewThread(
                source_type=self.name,
                source_id=session,
                project=next((text_of(one, "cwd") for one in lines if text_of(one, "cwd")), ""),
                title=title_of(summary or next(asked, "")),
                status=_status(lines[-1]),
                turns=turns,
                started_at=next((turn.at for turn in turns if turn.at is not None), None),
            )


def _turns(lines: Sequence[Mapping[str, Any]]) -> Iterator[NewTurn]:
    calls: dict[str, Mapping[str, Any]] = {}
    for line in lines:
        message = object_of(line, "message")
        tools = []
        for block in objects_of(message, "content"):
            if block.get("type") == "tool_use":
                calls[text_of(block, "id")] = block
            elif block.get("type") == "tool_result":
                call = calls.pop(text_of(block, "tool_use_id"), {})
                tools.append(_tool(call, block))
        text = said_in(message.get("content"))
        # Thoughts and calls alone are no turns: the latter are told with their results.
        if text or tools:
            role = "tool" if tools and not text else str(line["type"])
            yield NewTurn(role, text, tuple(tools), time_of(line.get("timestamp")))


def _tool(call: Mapping[str, Any], result: Mapping[str, Any]) -> ToolUse:
    return ToolUse(
        name=text_of(call, "name") or "unknown",
        input=object_of(call, "input"),
        output=as_text(result.get("content")),
        failed=result.get("is_error") is True,
    )


def _status(last: Mapping[str, Any]) -> ThreadStatus:
    stopped = object_of(last, "message").get("stop_reason")
    return "completed" if stopped == "end_turn" else "active"
