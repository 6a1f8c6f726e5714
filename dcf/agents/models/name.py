"""The name of a model: ``provider:model``, ``transcript:FILE`` or ``rehearsal``."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from dcf.agents.models.provider import PROVIDERS
from dcf.problem import Problem

REHEARSAL = "rehearsal"
TRANSCRIPT = "transcript"
_FORMS = "openai:gpt-5-mini, ollama:qwen3, transcript:FILE or rehearsal"


@dataclass(frozen=True, slots=True)
class ModelName:
    """``provider`` serves ``model``; of the rehearsal both are ``rehearsal``, of a transcript
    ``model`` is the file.

    >>> str(parse_name("ollama:qwen3:4b"))
    'ollama:qwen3:4b'
    """

    provider: str
    model: str

    def __str__(self) -> str:
        return self.provider if self.is_rehearsal else f"{self.provider}:{self.model}"

    @property
    def is_rehearsal(self) -> bool:
        return self.provider == REHEARSAL


def parse_name(text: str) -> ModelName | Problem:
    """The name in ``text``, or what is wrong with it."""
    provider, colon, model = text.strip().partition(":")
    provider, model = provider.strip().lower(), model.strip()
    if provider == REHEARSAL and not colon:
        return ModelName(REHEARSAL, REHEARSAL)
    if provider not in PROVIDERS and provider != TRANSCRIPT:
        return _unknown(text, provider, has_colon=bool(colon))
    if not model:
        message = f"{text!r} names a provider and no model"
        return Problem("MODEL_NAME", message, hint=f"as in {_FORMS}")
    return ModelName(provider, model)


def _unknown(text: str, provider: str, *, has_colon: bool) -> Problem:
    known = [*PROVIDERS, TRANSCRIPT, REHEARSAL]
    if not has_colon and provider not in known:
        close = difflib.get_close_matches(provider, known, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        message = f"{text!r} has no provider before a colon"
        return Problem("MODEL_NAME", message, hint=f"{hint}as in {_FORMS}")
    close = difflib.get_close_matches(provider, known, n=1)
    meant = f"did you mean {close[0]}? " if close else ""
    message = f"there is no provider {provider!r}"
    return Problem("MODEL_PROVIDER", message, hint=f"{meant}known: {', '.join(known)}")
