"""A model whose requests and answers are kept in a transcript."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from dcf.agents.models.request_text import request_value
from dcf.agents.models.transcript import Exchange
from dcf.agents.models.whole_stream import WholeStream
from dcf.tools import Redactor


class RecordedModel(WholeStream, WrapperModel):
    """``wrapped``, each of whose answers is appended to ``file`` (JSON Lines, for its owner alone),
    without the values of ``secrets``; so answers come whole."""

    def __init__(self, wrapped: Model, file: Path, name: str, secrets: Mapping[str, str]) -> None:
        super().__init__(wrapped)
        self._file = file
        self._name = name
        self._redactor = Redactor(secrets)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        asked = request_value(messages, model_request_parameters)
        response = await super().request(messages, model_settings, model_request_parameters)
        answered = ModelMessagesTypeAdapter.dump_python([response], mode="json")[0]
        exchange = Exchange(self._name, self._redactor.value(asked), self._redactor.value(answered))
        await asyncio.to_thread(_append, self._file, exchange.to_line())
        return response


def _append(file: Path, line: str) -> None:
    """One write to the end of the file, so that lines of several workers do not mix."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)
