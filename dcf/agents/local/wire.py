"""A conversation in the form in which pydantic-ai's models take it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic_ai import ToolDefinition
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from dcf.memory import heading_of

if TYPE_CHECKING:
    from dcf.memory import Message, ToolSpec


def model_messages(messages: Sequence[Message], instructions: str) -> list[ModelMessage]:
    """``messages`` in order, the last of them with ``instructions``.

    Each tool's return follows its call at once, even if something else was said between them;
    calls without a return are left out, because providers refuse them.
    """
    returns = {
        part["id"]: part
        for message in messages
        for part in message.parts
        if part["kind"] == "return"
    }
    made: list[ModelMessage] = []
    for message in messages:
        if message.role == "assistant":
            _add_answer(made, message, returns)
        elif message.role == "system":
            _ask(made, SystemPromptPart(message.content))
        elif message.role != "tool":
            _ask(made, UserPromptPart(_told(message)))
    if not made or not isinstance(made[-1], ModelRequest):
        made.append(ModelRequest(parts=[]))
    last = made[-1]
    assert isinstance(last, ModelRequest)
    last.instructions = instructions
    return made


def tool_definitions(tools: Sequence[ToolSpec]) -> list[ToolDefinition]:
    """``tools`` as a model is offered them."""
    return [
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=dict(tool.input_schema),
            sequential=True,
        )
        for tool in tools
    ]


def _add_answer(
    made: list[ModelMessage], message: Message, returns: Mapping[str, dict[str, Any]]
) -> None:
    calls = [part for part in message.parts if part["kind"] == "call" and part["id"] in returns]
    parts: list[ModelResponsePart] = [TextPart(message.content)] if message.content else []
    parts += [
        ToolCallPart(call["tool"], call["arguments"], tool_call_id=call["id"]) for call in calls
    ]
    if not parts:
        return
    made.append(ModelResponse(parts=parts))
    for call in calls:
        content = returns[call["id"]]["content"]
        _ask(made, ToolReturnPart(call["tool"], content, tool_call_id=call["id"]))


def _ask(made: list[ModelMessage], part: ModelRequestPart) -> None:
    if made and isinstance(made[-1], ModelRequest):
        made[-1] = ModelRequest(parts=[*made[-1].parts, part])
    else:
        made.append(ModelRequest(parts=[part]))


def _told(message: Message) -> str:
    heading = heading_of(message)
    return f"{heading}\n{message.content}" if heading else message.content
