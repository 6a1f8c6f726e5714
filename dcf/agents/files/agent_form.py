"""What the members of an agent mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from dcf.agents.files.form import OWN, Form
from dcf.agents.models.provider import PROVIDERS
from dcf.memory import CONTEXT_WINDOW, NewAgent

_PROVIDERS = {"google_ai": "google"}
"""Providers that the earlier system calls otherwise."""
_THEIRS = {ours: theirs for theirs, ours in _PROVIDERS.items()}


def model_of(raw: Mapping[str, Any]) -> str | None:
    """The agent's model as in ``DCF_MODEL``; None if there is none, or its provider is unknown."""
    provider, _, model = named_model(raw).partition("/")
    provider = _PROVIDERS.get(provider, provider)
    return f"{provider}:{model}" if provider in PROVIDERS and model else None


def named_model(raw: Mapping[str, Any]) -> str:
    """The agent's model as the file names it, ``provider/model``; empty if it names none."""
    config = raw.get("llm_config") or {}
    given = raw.get("model") or config.get("handle") or ""
    if given or not config.get("model"):
        return str(given)
    return f"{config.get('model_endpoint_type') or ''}/{config['model']}"


def _fields(raw: Mapping[str, Any]) -> dict[str, Any]:
    config = raw.get("llm_config") or {}
    parallel = raw.get("parallel_tool_calls")
    if parallel is None:
        parallel = config.get("parallel_tool_calls")
    metadata = raw.get("metadata") or {}
    return {
        "name": raw["name"],
        "description": raw.get("description") or "",
        "role": "",
        "model": model_of(raw),
        "embedder": None,
        "system": raw.get("system") or "",
        "context_window": (
            raw.get("context_window_limit") or config.get("context_window") or CONTEXT_WINDOW
        ),
        "parallel_tool_calls": True if parallel is None else parallel,
        "enable_sleeptime": bool(raw.get("enable_sleeptime")),
        "lifecycle": "persistent",
        "template": None,
        "template_digest": None,
        # A set: the memory keeps tags once each and in order.
        "tags": sorted(set(raw.get("tags") or ())),
        "metadata": {name: value for name, value in metadata.items() if name != OWN},
    }


def _members(agent: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": agent["name"],
        "description": agent["description"] or None,
        "system": agent["system"],
        "agent_type": "letta_v1_agent",
        "llm_config": _llm_config(agent),
        "context_window_limit": agent["context_window"],
        "parallel_tool_calls": agent["parallel_tool_calls"],
        "enable_sleeptime": agent["enable_sleeptime"],
        "tags": list(agent["tags"]),
        "metadata": dict(agent["metadata"]),
    }


def _llm_config(agent: Mapping[str, Any]) -> dict[str, Any] | None:
    if agent["model"] is None:
        return None
    provider, _, model = named_handle(agent["model"]).partition("/")
    return {
        "model": model,
        "model_endpoint_type": provider,
        "context_window": agent["context_window"],
        "handle": f"{provider}/{model}",
    }


def named_handle(model: str) -> str:
    """A model as in ``DCF_MODEL`` in the words of the file, ``provider/model``."""
    provider, _, name = model.partition(":")
    return f"{_THEIRS.get(provider, provider)}/{name}"


AGENT = Form(
    names=frozenset(field.name for field in fields(NewAgent)) - {"extra"},
    reads=frozenset(
        {
            "name",
            "description",
            "system",
            "model",
            "llm_config",
            "context_window_limit",
            "parallel_tool_calls",
            "enable_sleeptime",
            "tags",
            "metadata",
        }
    ),
    fields=_fields,
    members=_members,
    home="metadata",
)
