"""A model that has no tool calls of its own: its answer is constrained to a JSON schema of which
tool to call with what."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast

from pydantic_ai.exceptions import UnexpectedModelBehavior, UserError
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    RetryPromptPart,
    TextContent,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings

from dcf.agents.models.step_schema import SAY, step_schema
from dcf.agents.models.whole_stream import WholeStream

Style = Literal["json_schema", "json_object"]
"""How the server is told the schema: as OpenAI documents it, or as llama.cpp takes it."""

_ORDERS = (
    'Answer with one JSON object {"step": {"tool": NAME, "arguments": {…}}}: the next tool to '
    "call. Call one tool at a time; each result is told to you. The tools:"
)


class GuidedModel(WholeStream, WrapperModel):
    """``wrapped``, to which tools are offered in words and calls are told as text; the server holds
    each answer to the schema."""

    def __init__(self, wrapped: Model, style: Style) -> None:
        super().__init__(wrapped)
        self._style = style

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        offer = model_request_parameters
        tools = [*offer.function_tools, *offer.output_tools]
        schema = step_schema(
            {tool.name: tool.parameters_json_schema for tool in tools},
            text=offer.allow_text_output and not offer.output_tools,
        )
        told = [_told(message) for message in messages]
        parts = [InstructionPart(content=part) for part in _instructions(messages, offer)]
        lines = [
            f"- {tool.name}: {tool.description or ''} {_json(tool.parameters_json_schema)}"
            for tool in tools
        ]
        parts.append(InstructionPart(content="\n".join([_ORDERS, *lines])))
        plain = ModelRequestParameters(instruction_parts=parts)
        settings: ModelSettings = {**(model_settings or {})}
        if self._style == "json_schema":
            plain.output_mode = "native"
            plain.output_object = OutputObjectDefinition(json_schema=schema, name="step")
        else:
            form = {"type": "json_object", "schema": schema}
            settings["extra_body"] = {"response_format": form}
        response = await self.wrapped.request(told, settings, plain)
        response.parts = [_step(response, {tool.name for tool in tools})]
        return response


def _instructions(messages: Sequence[ModelMessage], offer: ModelRequestParameters) -> Iterator[str]:
    if offer.instruction_parts is not None:
        yield from (part.content for part in offer.instruction_parts)
        return
    for message in reversed(messages):
        if isinstance(message, ModelRequest) and message.instructions:
            yield message.instructions
            return


def _told(message: ModelMessage) -> ModelMessage:
    """``message`` with calls, results and refusals as text."""
    if isinstance(message, ModelResponse):
        said: list[ModelResponsePart] = [
            TextPart(_called(part)) if isinstance(part, ToolCallPart) else part
            for part in message.parts
        ]
        return ModelResponse(parts=said, timestamp=message.timestamp)
    heard: list[ModelRequestPart] = [_heard(part) for part in message.parts]
    return ModelRequest(parts=heard)


def _called(part: ToolCallPart) -> str:
    return _json({"step": {"tool": part.tool_name, "arguments": part.args_as_dict()}})


def _heard(part: ModelRequestPart) -> ModelRequestPart:
    if isinstance(part, ToolReturnPart):
        return UserPromptPart(f"Result of {part.tool_name}: {part.model_response_str()}")
    if isinstance(part, RetryPromptPart):
        return UserPromptPart(f"That did not do: {part.model_response()}")
    if isinstance(part, UserPromptPart) and not isinstance(part.content, str):
        # Of several texts the wire has a list, which the chat templates of small models refuse.
        return UserPromptPart("\n\n".join(_text(one) for one in part.content))
    return part


def _text(content: UserContent) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, TextContent):
        return content.content
    raise UserError(f"a model that is asked in words cannot be shown {content.kind}")


def _step(response: ModelResponse, tools: set[str]) -> ModelResponsePart:
    """The call that the answer comes to. Raises UnexpectedModelBehavior when it is none: it was cut
    off, or the server does not hold answers to a schema."""
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    try:
        step = json.loads(text)["step"]
        tool, arguments = step["tool"], step["arguments"]
    except (ValueError, KeyError, TypeError):
        raise UnexpectedModelBehavior(f"the answer is no step: {text[:200]!r}") from None
    if tool == SAY and tool not in tools and isinstance(arguments, Mapping):
        return TextPart(str(arguments.get("text", "")))
    if not isinstance(tool, str) or not isinstance(arguments, dict):
        raise UnexpectedModelBehavior(f"the answer is no step: {text[:200]!r}")
    return ToolCallPart(tool, cast("dict[str, Any]", arguments))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
