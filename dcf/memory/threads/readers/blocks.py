"""Messages that are made of blocks: texts, calls of tools and their results. Claude Code, Amp and
the exports of Claude have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dcf.memory.thread import NewTurn, ToolUse
from dcf.memory.threads.piece import Said
from dcf.memory.threads.readers.entry import MEDIA, as_text, media_in, object_of, text_of
from dcf.memory.threads.readers.tally import Tally

_THOUGHTS = frozenset({"thinking", "redacted_thinking", "flag", "token_budget"})


@dataclass(frozen=True, slots=True)
class Message:
    """Whose turns the blocks of a message are, and when it was sent."""

    source_id: str
    role: str
    key: str = ""
    at: int | None = None
    node: str = ""


@dataclass(slots=True)
class Conversation:
    """The blocks of a thread. A call is told with its result, in a turn of the role "tool"; one
    that has none is told at the end."""

    tally: Tally
    calls: dict[str, tuple[Message, Mapping[str, Any]]] = field(default_factory=dict)

    def said(self, message: Message, content: Any) -> Iterator[Said]:
        """The turns of a message whose content is a text, or blocks."""
        texts: list[str] = [content] if isinstance(content, str) else []
        rest: list[Said] = []
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict):
                rest += self._block(message, block, texts)
            elif isinstance(block, str):
                texts.append(block)
            else:
                rest += self._unknown(message, "block", block)
        if content is not None and not isinstance(content, str | list):
            rest += self._unknown(message, "content", content)
        text = "\n".join(one for one in texts if one.strip())
        if text:
            turn = NewTurn(message.role, text, at=message.at, key=message.key)
            yield Said(message.source_id, turn, message.node)
        yield from rest

    def end(self) -> Iterator[Said]:
        """Calls that have no result."""
        for message, call in self.calls.values():
            yield _tool(message, call, "", failed=False)
        self.calls.clear()

    def _block(
        self, message: Message, block: Mapping[str, Any], texts: list[str]
    ) -> Iterator[Said]:
        kind = text_of(block, "type")
        if kind == "text":
            texts.append(text_of(block, "text"))
        elif kind in MEDIA:
            texts.append(media_in(block))
        elif kind in _THOUGHTS:
            self.tally.leave_out("thinking")
        elif kind.endswith("tool_use"):
            self.calls[text_of(block, "id") or f"#{len(self.calls)}"] = (message, block)
        elif kind.endswith("tool_result"):
            yield self._result(message, block)
        else:
            yield from self._unknown(message, f"block {kind}".strip(), block)

    def _result(self, message: Message, block: Mapping[str, Any]) -> Said:
        call_id = text_of(block, "tool_use_id", "toolUseID")
        _, call = self.calls.pop(call_id, (message, {}))
        call = {**call, "id": call_id or text_of(call, "id")}
        run = object_of(block, "run")
        if run:
            told = (run.get(name) for name in ("result", "error", "progress"))
            output = next((as_text(one) for one in told if one), "")
            return _tool(message, call, output, failed=run.get("status") in _FAILED)
        if "name" not in call and text_of(block, "name"):
            call["name"] = text_of(block, "name")
        output = as_text(block.get("content"))
        return _tool(message, call, output, failed=block.get("is_error") is True)

    def _unknown(self, message: Message, kind: str, value: Any) -> Iterator[Said]:
        key = f"{message.key}#{kind}" if message.key else ""
        yield from self.tally.keep_unknown(kind, value, message.source_id, key=key, at=message.at)


_FAILED = frozenset({"error", "cancelled", "rejected-by-user"})
"""How runs of Amp's tools fail."""


def _tool(message: Message, call: Mapping[str, Any], output: str, *, failed: bool) -> Said:
    given = call.get("input")
    if given is not None and not isinstance(given, dict):
        given = {"input": given}
    use = ToolUse(text_of(call, "name") or "unknown", given or {}, output, failed)
    turn = NewTurn("tool", "", (use,), message.at, text_of(call, "id"))
    return Said(message.source_id, turn, message.node)
