"""A model that answers as a transcript says, and only what it says."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from dcf.agents.briefing import without_observed
from dcf.agents.models.failure import ModelFailure
from dcf.agents.models.request_text import request_value
from dcf.agents.models.transcript import Exchange, difference, read_transcript
from dcf.agents.models.whole_stream import WholeStream
from dcf.digest import canonical_json, digest

TRANSCRIPT_MISMATCH = "DCF.TranscriptMismatch"


class TranscriptMismatch(ModelFailure):
    """A request is not in the transcript; the cause shows how it differs from the nearest one."""

    name = TRANSCRIPT_MISMATCH


class ReplayedModel(WholeStream):
    """Answers each request with what was recorded for exactly this one: instructions, messages,
    tools and the form of the answer have to be the same.

    Several workers may ask in any order. The same request again gets the next answer that was
    recorded for it, and after the last one that one again (a worker that takes over asks anew).
    What an agent was told of earlier runs may be another: a record outlives what is remembered.
    """

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        self._exchanges = read_transcript(file)
        self._answers: dict[str, list[Exchange]] = defaultdict(list)
        for exchange in self._exchanges:
            self._answers[digest(canonical_json(_comparable(exchange.request)))].append(exchange)
        self._given = Counter[str]()

    @property
    def model_name(self) -> str:
        return self._exchanges[0].model if self._exchanges else "transcript"

    @property
    def system(self) -> str:
        return "transcript"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        asked = _comparable(request_value(messages, model_request_parameters))
        key = digest(canonical_json(asked))
        answers = self._answers.get(key)
        if not answers:
            raise TranscriptMismatch(self._mismatch(asked))
        exchange = answers[min(self._given[key], len(answers) - 1)]
        self._given[key] += 1
        (response,) = ModelMessagesTypeAdapter.validate_python([dict(exchange.response)])
        assert isinstance(response, ModelResponse)
        return response

    def _mismatch(self, asked: dict[str, Any]) -> str:
        if not self._exchanges:
            return f"{self._file} records no request at all"
        same_length = [
            exchange
            for exchange in self._exchanges
            if len(exchange.request.get("messages", ())) == len(asked["messages"])
        ]
        diffs = [
            difference(_comparable(one.request), asked) for one in same_length or self._exchanges
        ]
        nearest = min(diffs, key=len)
        return f"{self._file} does not record this request; against the nearest one:\n{nearest}"


def _comparable(value: Any) -> Any:
    """A request, without what was told of earlier runs."""
    if isinstance(value, str):
        return without_observed(value)
    if isinstance(value, list):
        return [_comparable(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _comparable(one) for name, one in value.items()}
    return value
