"""What of a turn is kept, in the form of the memory."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dcf.agents.envelope import envelope_of
from dcf.agents.local.calling import Answered, read_arguments
from dcf.agents.local.keepable import keepable
from dcf.agents.local.memory_tools import PAD_TOOL
from dcf.agents.reply import Reply

if TYPE_CHECKING:
    from pydantic_ai.messages import ToolCallPart

    from dcf.memory import Context, Memory, TurnRecord

_WRITTEN = 2000
_ON_PAD = "(on the scratch pad)"


def text_of(value: object) -> str:
    """A value that an agent is shown, as one text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def shown_in(context: Context) -> dict[int | None, str]:
    """What a context shows by the numbers of its messages (None: the system's), but for what the
    agent itself said."""
    texts: dict[int | None, str] = {None: context.system}
    for message in context.messages:
        if message.role != "assistant":
            parts = [text_of(part.get("content", "")) for part in message.parts]
            texts[message.seq] = "\n".join([message.content, *parts])
    return texts


INTERRUPTED = Answered(
    envelope_of("DCF.Interrupted", "the call was interrupted; it may or may not have been done"),
    "DCF.Interrupted",
)
"""What is said of a call that was under way when its process or its turn ended."""


async def reply_of(memory: Memory, turn: TurnRecord, text: str) -> Reply:
    """The reply of a turn that has ended with ``text``."""
    last = turn.first if turn.last is None else turn.last
    added = await memory.messages.list(
        turn.agent_id, after=turn.first - 1, before=last + 1, limit=last - turn.first + 1
    )
    return Reply(turn.agent_id, text, added, turn.usage, turn.correlation_id, turn.model)


def call_part(call_id: str, call: ToolCallPart) -> dict[str, Any]:
    """A call as a part of a message; what is no JSON object is kept as it was written, and what
    goes to the scratch pad is kept there alone."""
    arguments = read_arguments(call.args)
    if call.tool_name == PAD_TOOL:
        arguments = {"content": _ON_PAD}
    part = {"kind": "call", "id": call_id, "tool": call.tool_name, "arguments": arguments or {}}
    if arguments is None:
        part["written"] = str(call.args)[:_WRITTEN]
    kept: dict[str, Any] = keepable(part)
    return kept
