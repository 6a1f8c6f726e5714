"""A request to a model as text: what of it reaches the model, the same whenever it is asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import ModelRequestParameters

# What says where and when something was, and what the library or a provider notes for itself.
_NOT_SENT = frozenset(
    (
        "timestamp",
        "run_id",
        "conversation_id",
        "metadata",
        "usage",
        "model_name",
        "model_id",
        "provider_name",
        "provider_url",
        "provider_details",
        "provider_response_id",
        "canonical_system",
        "finish_reason",
        "workspace_ref",
        "history_digest",
        "failed_attempts",
        "state",
        "instructions",
    )
)


def request_value(
    messages: Sequence[ModelMessage], offer: ModelRequestParameters
) -> dict[str, Any]:
    """``{instructions, messages, tools, output}`` as JSON; what differs from run to run is left
    out."""
    return {
        "instructions": _instructions(messages),
        "messages": [message_value(message) for message in messages],
        "tools": [_tool(tool) for tool in offer.function_tools],
        "output": {
            "mode": offer.output_mode,
            "tools": [_tool(tool) for tool in offer.output_tools],
            "schema": offer.output_object.json_schema if offer.output_object else None,
            "text": bool(offer.allow_text_output),
        },
    }


def message_value(message: ModelMessage) -> dict[str, Any]:
    """One message, with the parts that a model sees."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    value: dict[str, Any] = ModelMessagesTypeAdapter.dump_python([message], mode="json")[0]
    kept = _kept(value)
    kept["parts"] = [_part(part) for part in value.get("parts", ())]
    return kept


def message_text(message: ModelMessage) -> str:
    """``message_value`` as JSON with sorted members."""
    return _text(message_value(message))


def offer_text(messages: Sequence[ModelMessage], offer: ModelRequestParameters) -> str:
    """What stands beside the messages: instructions, tools, the form of the answer."""
    whole = request_value((), offer)
    return _text({**whole, "instructions": _instructions(messages)})


def _instructions(messages: Sequence[ModelMessage]) -> str:
    """Those of the last request: providers are told no others."""
    for message in reversed(messages):
        if message.kind == "request" and message.instructions:
            return message.instructions
    return ""


def _tool(tool: Any) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters_json_schema,
    }


def _part(part: dict[str, Any]) -> dict[str, Any]:
    kept = _kept(part)
    arguments = kept.get("args")
    if isinstance(arguments, str):
        # The same call, whether its arguments came as text or as an object.
        with suppress(ValueError):
            kept["args"] = json.loads(arguments)
    return kept


def _kept(value: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in value.items() if name not in _NOT_SENT and one is not None}


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
