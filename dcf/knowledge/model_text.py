"""Asking a model for a JSON object, whatever its provider can do beside text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic_ai.models import Model


async def asked_for_json(model: Model, instructions: str, text: str) -> Any:
    """The JSON value in the answer of ``model``, None where there is none. Raises ModelFailure."""
    from pydantic_ai.direct import model_request
    from pydantic_ai.messages import ModelRequest, SystemPromptPart, TextPart, UserPromptPart

    request = ModelRequest(
        parts=[SystemPromptPart(content=instructions), UserPromptPart(content=text)]
    )
    response = await model_request(model, [request])
    said = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    return json_in(said)


def json_in(said: str) -> Any:
    """The JSON object in ``said``, which models like to wrap in words or fences; else None."""
    first, last = said.find("{"), said.rfind("}")
    if first < 0 or last < first:
        return None
    try:
        return json.loads(said[first : last + 1])
    except (ValueError, RecursionError):
        return None
