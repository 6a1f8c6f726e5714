"""Messages of the server as ours.

Of what a message of ours has, the server keeps no number, no sender that the model sees and no
correlation id. The number is counted; the sender stands at the head of the text and as the
message's ``sender_id``; the correlation id is part of its ``otid``, and holds until the next
question.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dcf.memory import Message, NewMessage
from dcf.search import count_tokens

if TYPE_CHECKING:
    from letta_client.types.agents import Message as MessageState

_OTID = "dcf/"


def question(text: str, sender: str | None, correlation_id: str, key: str) -> dict[str, Any]:
    """A message to an agent. The same ``key`` says that it is the same message, sent again."""
    said = f"{_from(sender)}{text}" if sender else text
    told: dict[str, Any] = {"role": "user", "content": said, "otid": otid_of(correlation_id, key)}
    return told | ({"sender_id": sender} if sender else {})


def otid_of(correlation_id: str, key: str) -> str:
    """How a question is known on the server."""
    return f"{_OTID}{key}/{correlation_id}"


def messages_of(agent_id: str, states: Sequence[MessageState]) -> tuple[Message, ...]:
    """All messages of an agent, in order; what is no message of a conversation is left out, and so
    is the prompt at its head."""
    made: list[Message] = []
    tools: dict[str, str] = {}
    correlation_id: str | None = None
    for seq, state in enumerate(states, start=1):
        otid = str(getattr(state, "otid", None) or "")
        if state.message_type == "user_message":
            asked = otid.startswith(_OTID)
            correlation_id = otid.split("/", 2)[2] if asked else None
        new = None if seq == 1 and state.message_type == "system_message" else _new(state, tools)
        if new is None:
            continue
        made.append(
            Message(
                id=state.id,
                agent_id=agent_id,
                seq=seq,
                role=new.role,
                content=new.content,
                parts=tuple(new.parts),
                tokens=count_tokens(new.content),
                session_id=None,
                run_id=None,
                sender=new.sender,
                correlation_id=correlation_id,
                replaces=None,
                archived_at=None,
                created_at=int(state.date.timestamp() * 1000),
            )
        )
    return tuple(made)


def calls_of(state: Any) -> list[Any]:
    """The calls that a message asks for."""
    calls = getattr(state, "tool_calls", None)
    return list(calls) if isinstance(calls, list) else [state.tool_call]


def text_of(content: Any) -> str:
    """The text of a content."""
    if isinstance(content, str):
        return content
    return "\n".join(part.text for part in content or () if getattr(part, "text", None))


def _new(state: Any, tools: dict[str, str]) -> NewMessage | None:
    match state.message_type:
        case "user_message":
            sender, text = state.sender_id, text_of(state.content)
            return NewMessage(
                "user", text.removeprefix(_from(sender)) if sender else text, sender=sender
            )
        case "assistant_message":
            return NewMessage("assistant", text_of(state.content))
        case "system_message":
            return NewMessage("system", text_of(state.content))
        case "summary_message":
            return NewMessage("summary", str(state.summary))
        case "tool_call_message" | "approval_request_message":
            calls = calls_of(state)
            tools |= {call.tool_call_id: call.name for call in calls}
            return NewMessage("assistant", "", [_call(call) for call in calls])
        case "tool_return_message":
            told = getattr(state, "tool_returns", None) or [state]
            return NewMessage("tool", "", list(_returns(told, tools)))
    return None


def _call(call: Any) -> dict[str, Any]:
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = None
    part = {"kind": "call", "id": call.tool_call_id, "tool": call.name}
    if isinstance(arguments, dict):
        return {**part, "arguments": arguments}
    return {**part, "arguments": {}, "written": call.arguments}


def _returns(told: Iterable[Any], tools: dict[str, str]) -> Iterable[dict[str, Any]]:
    for one in told:
        said = one.tool_return
        yield {
            "kind": "return",
            "id": one.tool_call_id,
            "tool": tools.get(one.tool_call_id, ""),
            "content": said if isinstance(said, str) else text_of(said),
            "is_error": one.status == "error",
        }


def _from(sender: str) -> str:
    return f"[From {sender}]\n"
