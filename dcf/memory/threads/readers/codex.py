"""Sessions of Codex: ``~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl``. See
docs/reference/transcripts.md for where the format is described.

A line has ``timestamp``, ``type`` and ``payload``; earliest versions wrote the payload alone. What
was said stands in lines of the type ``response_item``; events (``event_msg``) tell it again for
those who look on, and are read where they say something else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dcf.memory.thread import NewTurn, Outline, ThreadStatus, ToolUse
from dcf.memory.threads.piece import Ended, Piece, Said
from dcf.memory.threads.readers.entry import (
    Reading,
    as_text,
    given_in,
    object_of,
    said_in,
    text_of,
    time_of,
    title_of,
)
from dcf.memory.threads.readers.json_stream import Entry
from dcf.memory.threads.readers.tally import Tally

_ITEMS = frozenset({"message", "reasoning", "function_call", "function_call_output"})
_CALLS = frozenset(
    {
        *("function_call", "custom_tool_call", "local_shell_call", "web_search_call"),
        *("tool_search_call", "image_generation_call"),
    }
)
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
_QUIET = frozenset({"reasoning", "ghost_snapshot", "compaction", "other"})
_EVENTS = frozenset(
    {
        *("user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content"),
        *("token_count", "context_compacted", "entered_review_mode", "exited_review_mode"),
        *("undo_completed", "turn_aborted", "turn_started", "turn_complete", "task_started"),
        *("task_complete", "image_generation_end", "item_completed", "guardian_assessment"),
        *("web_search_end", "exec_command_begin", "exec_command_end", "patch_apply_begin"),
        *("patch_apply_end", "mcp_tool_call_begin", "mcp_tool_call_end", "view_image_tool_call"),
        *("injected_message", "collab_agent_spawn_end", "collab_agent_interaction_end"),
        *("collab_waiting_end", "collab_close_end", "collab_resume_end", "background_event"),
        *("dynamic_tool_call_request", "dynamic_tool_call_response", "plan_update"),
        *("thread_goal_updated", "thread_settings_applied", "sub_agent_activity"),
    }
)
"""Events that say what items say as well, or nothing of a conversation."""
_BOOKKEEPING = frozenset(
    {"turn_context", "world_state", "inter_agent_communication_metadata", "state"}
)
_GIVEN = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_abort")
"""How messages begin that Codex wrote in the name of its user."""


class Codex:
    """See the module."""

    name = "codex"

    def recognises(self, value: Mapping[str, Any]) -> bool:
        kind, payload = value.get("type"), value.get("payload")
        if kind in ("session_meta", "response_item", "event_msg"):
            return isinstance(payload, dict)
        # The first line of the earliest versions.
        return {"id", "timestamp", "instructions"} <= set(value) and kind is None

    def reading(self, path: Path, tally: Tally) -> Reading:
        return _Reading(path.stem, tally)


@dataclass(slots=True)
class _Reading:
    stem: str
    tally: Tally
    source_id: str = ""
    project: str = ""
    parent: str = ""
    title: str = ""
    asked: str = ""
    started_at: int | None = None
    status: ThreadStatus = "active"
    number: int = 0
    prompts: list[int] = field(default_factory=list)
    """Where each prompt that stands begins, by node."""
    left: set[str] = field(default_factory=set)
    calls: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    turns: int = 0

    def read(self, entry: Entry) -> Iterator[Piece]:
        value = entry.value
        kind, at = text_of(value, "type"), time_of(value.get("timestamp"))
        payload = object_of(value, "payload")
        if not payload and kind not in ("session_meta", "response_item", "event_msg"):
            payload, kind = value, "response_item" if kind else "session_meta"
        if kind == "session_meta" or not self.source_id:
            self._meta(payload if kind == "session_meta" else {}, at)
        for said in self._said(kind, payload, at):
            self.turns += 1
            yield said

    def end(self) -> Iterator[Piece]:
        for call_id, call in self.calls.items():
            self.turns += 1
            yield self._tool(call_id, call, "", None)
        if self.turns:
            outline = Outline(
                self.source_id,
                self.project,
                title_of(self.title or self.asked),
                self.status,
                self.started_at,
                self.parent,
            )
            yield Ended(outline, frozenset(self.left))

    def _meta(self, payload: Mapping[str, Any], at: int | None) -> None:
        """A session that goes on from another has the lines of that, too: the first is its own."""
        if self.source_id:
            return
        self.source_id = text_of(payload, "id", "session_id") or self.stem
        self.project = text_of(payload, "cwd")
        sent = object_of(object_of(payload, "source"), "subagent")
        spawned = object_of(sent, "thread_spawn")
        self.parent = text_of(spawned, "parent_thread_id") or text_of(payload, "forked_from_id")
        self.started_at = time_of(payload.get("timestamp")) or at

    def _said(self, kind: str, payload: Mapping[str, Any], at: int | None) -> Iterator[Said]:
        if kind == "session_meta":
            given = text_of(object_of(payload, "base_instructions"), "text")
            if given or text_of(payload, "instructions"):
                self.tally.leave_out("instructions")
        elif kind == "response_item":
            yield from self._item(payload, at)
        elif kind == "event_msg":
            yield from self._event(payload, at)
        elif kind == "compacted":
            text = text_of(payload, "message")
            if text:
                yield self._turn(NewTurn("summary", text, at=at))
        elif kind == "inter_agent_communication":
            text = as_text(payload.get("content") or payload.get("message") or dict(payload))
            yield self._turn(NewTurn(text_of(payload, "author", "from") or "agent", text, at=at))
        elif kind in _BOOKKEEPING:
            self.tally.leave_out(kind)
        else:
            yield from self.tally.keep_unknown(kind, payload, self.source_id, at=at)

    def _item(self, item: Mapping[str, Any], at: int | None) -> Iterator[Said]:
        kind = text_of(item, "type")
        call_id = text_of(item, "call_id", "id")
        if kind == "message":
            yield from self._message(item, at)
        elif kind in _OUTPUTS:
            call = self.calls.pop(call_id, {})
            yield self._tool(call_id, call, *_output(item), at=at)
        elif kind == "web_search_call" or (kind in _CALLS and not call_id):
            # Their results are not told.
            yield self._tool(call_id, item, "", None, at=at)
        elif kind in _CALLS:
            self.calls[call_id] = {**item, "at": at}
        elif kind in _QUIET:
            self.tally.leave_out(kind)
        elif "record_type" in item:
            self.tally.leave_out("state")
        else:
            yield from self.tally.keep_unknown(f"item {kind}", item, self.source_id, at=at)

    def _message(self, item: Mapping[str, Any], at: int | None) -> Iterator[Said]:
        role = text_of(item, "role") or "unknown"
        text = said_in(item.get("content"))
        if role == "user" and text.startswith(_GIVEN):
            role = "system"
        if role == "user":
            self.asked = self.asked or text
            self.prompts.append(self.number)
        self.status = "completed" if role == "assistant" else "active"
        if text:
            yield self._turn(NewTurn(role, text, at=at, key=text_of(item, "id")))

    def _event(self, event: Mapping[str, Any], at: int | None) -> Iterator[Said]:
        kind = text_of(event, "type")
        if kind == "thread_rolled_back":
            self._roll_back(event.get("num_turns"))
        elif kind == "thread_name_updated":
            self.title = text_of(event, "thread_name") or self.title
        elif kind in ("error", "warning", "stream_error"):
            yield self._turn(NewTurn(kind, text_of(event, "message") or kind, at=at))
        elif kind in _EVENTS or kind.endswith("_delta"):
            self.tally.leave_out(f"event {kind}")
        else:
            yield from self.tally.keep_unknown(f"event {kind}", event, self.source_id, at=at)

    def _roll_back(self, turns: Any) -> None:
        """The last prompts are taken back, with all that followed on them."""
        count = turns if isinstance(turns, int) and turns > 0 else 0
        if count:
            first = self.prompts[-count:][:1] or [0]
            self.left |= {str(number) for number in range(first[0], self.number)}
            del self.prompts[-count:]

    def _turn(self, turn: NewTurn) -> Said:
        said = Said(self.source_id, turn, str(self.number))
        self.number += 1
        return said

    def _tool(
        self,
        call_id: str,
        call: Mapping[str, Any],
        output: str,
        failed: bool | None,
        *,
        at: int | None = None,
    ) -> Said:
        name = text_of(call, "name") or text_of(call, "type").removesuffix("_call") or "unknown"
        given = given_in(call.get("arguments", call.get("input", call.get("action"))))
        use = ToolUse(name, given, output, bool(failed))
        return self._turn(NewTurn("tool", "", (use,), at or call.get("at"), call_id))


def _output(item: Mapping[str, Any]) -> tuple[str, bool]:
    """What the tool said, and whether it failed: as a text, as blocks, or as JSON in a text."""
    output = item.get("output", item.get("tools"))
    if isinstance(output, dict):
        text = as_text(output.get("content") or output.get("output"))
        return text, output.get("success") is False
    if isinstance(output, str) and output.startswith('{"output"'):
        try:
            told = json.loads(output, parse_constant=str)
        except (ValueError, RecursionError):
            return output, False
        code = object_of(told, "metadata").get("exit_code")
        text = told.get("output")
        if isinstance(text, str) and "\\u" not in output:
            return text, isinstance(code, int) and code != 0
        return output, isinstance(code, int) and code != 0
    return as_text(output), False
