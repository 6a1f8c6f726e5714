"""Whether a model looks for facts in texts: the flag, the model, the budget."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dcf.knowledge.errors import SettingUnusable
from dcf.knowledge.model_text import asked_for_json

DEFAULT_CALLS = 500
_ON = ("1", "true", "yes", "on")
_ROLE = "reflector"


@dataclass(frozen=True, slots=True)
class ExtractionSetting:
    """``model`` names who is asked; ``calls`` is how often at most, by one server."""

    model: str
    calls: int

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> ExtractionSetting | None:
        """None without ``DCF_GRAPH_EXTRACT=1``. Raises SettingUnusable where there is no model, and
        for a ``DCF_GRAPH_EXTRACT_CALLS`` that is no number."""
        if env.get("DCF_GRAPH_EXTRACT", "").lower() not in _ON:
            return None
        from dcf.agents.models import ModelName, named_model, parse_name

        name = named_model(env, role=_ROLE).name
        parsed = parse_name(name)
        if not isinstance(parsed, ModelName) or parsed.is_rehearsal:
            hint = "set DCF_MODEL, as in openai:gpt-5-mini, or unset it"
            reason = "there is no model to find facts with"
            raise SettingUnusable(name="DCF_GRAPH_EXTRACT", reason=reason, hint=hint)
        calls = env.get("DCF_GRAPH_EXTRACT_CALLS") or str(DEFAULT_CALLS)
        if not re.fullmatch("[0-9]{1,18}", calls):
            reason, hint = f"{calls!r} is no whole number", "as in 500"
            raise SettingUnusable(name="DCF_GRAPH_EXTRACT_CALLS", reason=reason, hint=hint)
        return cls(name, int(calls))

    def client(self, env: Mapping[str, str]) -> Any:
        """The LLMClient for Graphiti; after ``demand_graphiti``. Raises ModelNotConfigured."""
        from dcf.agents.models import Models
        from dcf.knowledge.graphiti.extraction_model import CallBudget, ExtractionModel

        model = Models(env).of(self.model)

        async def ask(instructions: str, text: str) -> Any:
            return await asked_for_json(model, instructions, text)

        return ExtractionModel(ask, CallBudget(self.calls))
