"""Who serves models: what each provider needs before it can be asked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider of models.

    ``keys`` are the variables that may hold its key, the first of them the one to name; ``url`` is
    the variable of another address, ``default_url`` where it is without one (None: the client
    knows). ``package`` is what its client is imported as, ``extra`` what installs it.
    """

    name: str
    package: str
    extra: str
    keys: tuple[str, ...]
    url: str
    default_url: str | None = None
    needs_key: bool = True


COMPATIBLE = "compatible"
COMPATIBLE_URL = "DCF_MODEL_BASE_URL"
COMPATIBLE_KEY_NAME = "DCF_MODEL_KEY_NAME"
"""A setting that holds the *name* of the variable with the key of a compatible server."""

PROVIDERS = {
    provider.name: provider
    for provider in (
        Provider("openai", "openai", "openai", ("OPENAI_API_KEY",), "OPENAI_BASE_URL"),
        Provider(
            "anthropic", "anthropic", "anthropic", ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL"
        ),
        Provider(
            "google",
            "google.genai",
            "google",
            ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
            "GOOGLE_BASE_URL",
        ),
        Provider(
            "ollama",
            "openai",
            "openai",
            ("OLLAMA_API_KEY",),
            "OLLAMA_BASE_URL",
            "http://127.0.0.1:11434/v1",
            needs_key=False,
        ),
        Provider(COMPATIBLE, "openai", "openai", (), COMPATIBLE_URL, needs_key=False),
    )
}
"""By the name that stands before the colon."""
