"""Asking an agent's model. Importing this module loads pydantic-ai."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from dcf.agents.local.wire import tool_definitions
from dcf.agents.task_error import MODEL_ERROR, TaskError

if TYPE_CHECKING:
    from dcf.memory import ToolSpec

Say = Callable[[str], None]
"""Told each piece of text as it comes."""


async def ask(
    model: Model,
    messages: list[ModelMessage],
    tools: Sequence[ToolSpec],
    *,
    parallel: bool = True,
    say: Say | None = None,
) -> ModelResponse:
    """What ``model`` answers; with ``say`` piece by piece, where the model can do that.

    Raises TaskError.
    """
    offered = ModelRequestParameters(function_tools=tool_definitions(tools))
    settings = None if parallel or not tools else ModelSettings(parallel_tool_calls=False)
    try:
        if say is None or not _streams(model):
            response = await model_request(
                model, messages, model_settings=settings, model_request_parameters=offered
            )
            if say is not None and response.text:
                say(response.text)
            return response
        async with model_request_stream(
            model, messages, model_settings=settings, model_request_parameters=offered
        ) as stream:
            async for event in stream:
                if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                    say(event.part.content)
                elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                    say(event.delta.content_delta)
            return stream.get()
    except (AgentRunError, UserError) as error:
        raise TaskError(MODEL_ERROR, str(error)) from error


async def ask_once(
    model: Model, prompt: str, most: int | None = None, *, system: str = ""
) -> ModelResponse:
    """What ``model`` answers to one prompt, in at most ``most`` tokens (None: as many as it may).
    Raises TaskError."""
    parts: list[ModelRequestPart] = [SystemPromptPart(system)] if system else []
    asked: list[ModelMessage] = [ModelRequest(parts=[*parts, UserPromptPart(prompt)])]
    settings = None if most is None else ModelSettings(max_tokens=most)
    try:
        return await model_request(model, asked, model_settings=settings)
    except (AgentRunError, UserError) as error:
        raise TaskError(MODEL_ERROR, str(error)) from error


def _streams(model: Model) -> bool:
    while isinstance(model, WrapperModel):
        model = model.wrapped
    return not isinstance(model, FunctionModel) or model.stream_function is not None
