"""The model that Graphiti asks to find facts in a text: counted, checked, and kept from versions.

Imports graphiti_core: only after ``demand_graphiti``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from graphiti_core.llm_client.client import LLMClient
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.prompts.models import Message
from pydantic import BaseModel, ValidationError

from dcf.knowledge.errors import KnowledgeError

Ask = Callable[[str, str], Awaitable[Any]]
"""Asks for JSON: instructions and text to a value, None where there was none."""
_VERSIONED = re.compile(r"@\d|\bv\d|\d+\.\d+", re.IGNORECASE)


class CallsSpent(KnowledgeError):
    """No more than {limit} calls of the model are allowed (DCF_GRAPH_EXTRACT_CALLS)."""

    code = "graph_calls_spent"
    hint = "texts wait; they are found by what they say meanwhile"


class NoUsableAnswer(KnowledgeError):
    """The model's answer to {prompt} cannot be used: {reason}."""

    code = "graph_no_answer"


@dataclass
class CallBudget:
    """So many calls may still be made."""

    limit: int
    made: int = 0

    def take(self) -> None:
        """Count one before it is made. Raises CallsSpent."""
        if self.made >= self.limit:
            raise CallsSpent(limit=self.limit)
        self.made += 1


class ExtractionModel(LLMClient):
    """Asks through ``ask``, within ``budget``. Names with a version are taken out of what the model
    found: Graphiti would make one of two that differ in a digit."""

    def __init__(self, ask: Ask, budget: CallBudget) -> None:
        super().__init__(LLMConfig(api_key="none", model="none"))
        self._ask = ask
        self._budget = budget

    async def generate_response(
        self,
        messages: list[Message],
        response_model: type[BaseModel] | None = None,
        max_tokens: int | None = None,
        model_size: Any = None,
        group_id: str | None = None,
        prompt_name: str | None = None,
        *,
        attribute_extraction: bool = False,
        model: str | None = None,
    ) -> dict[str, Any]:
        """The answer as the fields of ``response_model``. Raises CallsSpent, NoUsableAnswer, and
        what ``ask`` raises."""
        self._budget.take()
        self._apply_attribute_extraction_preamble(messages, attribute_extraction)
        text = "\n\n".join(message.content for message in messages[1:])
        if response_model is not None:
            schema = json.dumps(response_model.model_json_schema())
            text += f"\n\nAnswer with one JSON object of this schema:\n{schema}"
        said = await self._ask(messages[0].content, text)
        prompt = prompt_name or "a prompt"
        if not isinstance(said, dict):
            raise NoUsableAnswer(prompt=prompt, reason="it is no JSON object")
        if response_model is not None:
            try:
                said = response_model.model_validate(said).model_dump()
            except ValidationError as error:
                count = error.error_count()
                raise NoUsableAnswer(prompt=prompt, reason=f"{count} fields are wrong") from error
        return without_versions(said)

    async def _generate_response(self, *_: Any, **__: Any) -> dict[str, Any]:
        # The base class wants one; only its own generate_response, replaced above, would call it.
        raise AssertionError("answers come from generate_response")


def without_versions(said: dict[str, Any]) -> dict[str, Any]:
    """``said`` without entities that have a version in their name, and without facts of them."""
    kept = dict(said)
    found = said.get("extracted_entities")
    if isinstance(found, list):
        kept["extracted_entities"] = [one for one in found if not _has_version(one.get("name"))]
    edges = said.get("edges")
    if isinstance(edges, list):
        kept["edges"] = [
            one
            for one in edges
            if not _has_version(one.get("source_entity_name"))
            and not _has_version(one.get("target_entity_name"))
        ]
    return kept


def _has_version(name: Any) -> bool:
    return isinstance(name, str) and _VERSIONED.search(name) is not None
