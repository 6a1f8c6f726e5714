"""What the members of a message mean."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from dcf.agents.files.form import Form
from dcf.memory import NewMessage

_ROLES = {"function": "tool", "developer": "system"}
_ANSWERS = frozenset({"tool", "function"})


def tools_called(raws: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The tool of each call of the messages of one agent, by the call's id."""
    return {
        call["id"]: call["function"]["name"] for raw in raws for call in raw.get("tool_calls") or ()
    }


def calls_in(messages: Iterable[NewMessage]) -> dict[str, str]:
    """The same of messages as they are kept."""
    return {
        str(part.get("id")): str(part.get("tool"))
        for message in messages
        for part in message.parts
        if part.get("kind") == "call"
    }


def message_form(tools: Mapping[str, str]) -> Form:
    """The form of the messages of one agent that called ``tools``: an answer does not always say
    whose it is, the call with its id does."""
    return Form(
        names=frozenset(field.name for field in fields(NewMessage)),
        reads=frozenset(
            {"role", "content", "name", "tool_calls", "tool_call_id", "tool_returns", "approvals"}
        ),
        fields=lambda raw: _fields(raw, tools),
        members=_members,
    )


def _fields(raw: Mapping[str, Any], tools: Mapping[str, str]) -> dict[str, Any]:
    text = _text(raw.get("content"))
    calls = [_call(call) for call in raw.get("tool_calls") or ()]
    returns = [_return(one, raw, text, tools) for one in _answers(raw)]
    role = raw["role"]
    if role == "approval":
        # Asked for, it is the model's call; given, it may have brought what the tool answered.
        role = "assistant" if calls else "tool" if returns else "user"
    return {
        "role": _ROLES.get(role, role),
        "content": text,
        "parts": [*calls, *returns],
        "session_id": None,
        "run_id": None,
        "sender": None,
        "correlation_id": None,
        "replaces": None,
    }


def _answers(raw: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    told = [*(raw.get("tool_returns") or ()), *(raw.get("approvals") or ())]
    ours = {one["tool_call_id"]: one for one in reversed(told) if _said(one)}
    whole = list(reversed(ours.values()))
    if whole or raw["role"] not in _ANSWERS or not raw.get("tool_call_id"):
        return whole
    return [{"tool_call_id": raw["tool_call_id"], "status": next(map(_status, told), "")}]


def _said(answer: Mapping[str, Any]) -> bool:
    return isinstance(answer.get("tool_call_id"), str) and any(
        isinstance(answer.get(name), str) for name in ("func_response", "tool_return")
    )


def _status(answer: Mapping[str, Any]) -> Any:
    return answer.get("status")


def _return(
    answer: Mapping[str, Any], raw: Mapping[str, Any], text: str, tools: Mapping[str, str]
) -> dict[str, Any]:
    said = answer.get("func_response", answer.get("tool_return"))
    return {
        "kind": "return",
        "id": answer["tool_call_id"],
        "tool": raw.get("name") or tools.get(answer["tool_call_id"], ""),
        "content": said if isinstance(said, str) else text,
        "is_error": answer.get("status") == "error",
    }


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call["function"]
    try:
        arguments = json.loads(function["arguments"])
    except (ValueError, RecursionError):
        arguments = function["arguments"]
    return {
        "kind": "call",
        "id": call["id"],
        "tool": function["name"],
        "arguments": arguments if isinstance(arguments, dict) else function["arguments"],
    }


def _text(content: Any) -> str:
    """The text of a content: a text, or parts of which those of type text count."""
    if isinstance(content, str):
        return content
    texts = [part.get("text") for part in content or () if part.get("type", "text") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def _members(message: Mapping[str, Any]) -> dict[str, Any]:
    calls = [part for part in message["parts"] if part.get("kind") == "call"]
    returns = [part for part in message["parts"] if part.get("kind") == "return"]
    text = message["content"]
    return {
        "role": "user" if message["role"] == "summary" else message["role"],
        "content": [{"type": "text", "text": text, "signature": None}] if text else [],
        "name": None,
        "tool_calls": [_raw_call(part) for part in calls] or None,
        "tool_call_id": returns[0].get("id") if len(returns) == 1 else None,
        "tool_returns": [_raw_return(part) for part in returns],
    }


def _raw_call(part: Mapping[str, Any]) -> dict[str, Any]:
    arguments = part.get("arguments")
    return {
        "id": str(part.get("id")),
        "function": {
            "name": str(part.get("tool")),
            "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
        },
        "type": "function",
    }


def _raw_return(part: Mapping[str, Any]) -> dict[str, Any]:
    content = part.get("content")
    return {
        "tool_call_id": str(part.get("id")),
        "status": "error" if part.get("is_error") else "success",
        "stdout": None,
        "stderr": None,
        "func_response": content if isinstance(content, str) else json.dumps(content),
    }
