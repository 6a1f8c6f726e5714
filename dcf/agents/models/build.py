"""From a model's name and the environment to a client that can be asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dcf.agents.models.call_settings import CallSettings
from dcf.agents.models.checks import key_of, name_problems, url_of
from dcf.agents.models.failure import ModelNotConfigured
from dcf.agents.models.name import TRANSCRIPT, ModelName, parse_name
from dcf.agents.models.provider import COMPATIBLE, PROVIDERS
from dcf.problem import Problem

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings


def build_model(name: str, environment: Mapping[str, str], settings: CallSettings) -> Model:
    """The model ``name`` on its provider's own client, which repeats nothing by itself. Loads the
    client's package. Raises ModelNotConfigured with all that is missing."""
    problems = name_problems(name, environment)
    parsed = parse_name(name)
    if problems or isinstance(parsed, Problem):
        raise ModelNotConfigured("; ".join(_sentence(problem) for problem in problems))
    if parsed.provider == TRANSCRIPT:
        return _transcript(parsed)
    return _client(parsed, environment, settings)


def _client(name: ModelName, environment: Mapping[str, str], settings: CallSettings) -> Model:
    provider = PROVIDERS[name.provider]
    key, url = key_of(provider, environment), url_of(provider, environment)
    usual: ModelSettings = {
        "max_tokens": settings.max_tokens,
        "timeout": settings.timeout_s,
        "max_retries": 0,
    }
    if name.provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        served = AnthropicProvider(api_key=key, base_url=url)
        return AnthropicModel(name.model, provider=served, settings=usual)
    if name.provider == "google":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleModel(
            name.model, provider=GoogleProvider(api_key=key, base_url=url), settings=usual
        )
    from pydantic_ai.models.openai import OpenAIChatModel

    if name.provider == "ollama":
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.providers.ollama import OllamaProvider

        local = OllamaProvider(base_url=url, api_key=key)
        return OllamaModel(name.model, provider=local, settings=usual)
    if name.provider == COMPATIBLE:
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        assert url is not None
        other = OpenAICompatibleProvider(COMPATIBLE, base_url=url, api_key=key)
        # The older name of the limit: servers of other makers know it, and some only it.
        older = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
        return OpenAIChatModel(name.model, provider=other, profile=older, settings=usual)
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIChatModel(
        name.model, provider=OpenAIProvider(api_key=key, base_url=url), settings=usual
    )


def _transcript(name: ModelName) -> Model:
    from dcf.agents.models.replayed import ReplayedModel
    from dcf.agents.models.transcript import TranscriptProblem

    try:
        return ReplayedModel(Path(name.model))
    except TranscriptProblem as error:
        raise ModelNotConfigured(_sentence(error.problem)) from None


def _sentence(problem: Problem) -> str:
    hint = f" ({problem.hint})" if problem.hint else ""
    return f"{problem.message}{hint}"
