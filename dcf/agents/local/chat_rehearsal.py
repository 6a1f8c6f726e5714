"""The model of a conversation where none is configured: it says so, and what it was told."""

from __future__ import annotations

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from dcf.agents.rehearsal import REHEARSAL, REHEARSED

_QUOTED = 200


def chat_rehearsal() -> FunctionModel:
    """A model that answers every message with a part of it."""
    return FunctionModel(_answer, model_name=REHEARSAL)


async def _answer(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
    asked = [
        part.content
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart) and isinstance(part.content, str)
    ]
    said = asked[-1] if asked else ""
    quoted = said if len(said) <= _QUOTED else f"{said[:_QUOTED]}…"
    text = f"Rehearsal: no model is configured. Your message was kept: {quoted}"
    return ModelResponse(parts=[TextPart(text)], usage=RequestUsage(details={REHEARSED: 1}))
