"""An agent, as it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Lifecycle: TypeAlias = Literal["ephemeral", "pooled", "persistent"]
"""Deleted when its run is finalized; given back to a pool of its template then; or kept."""

CONTEXT_WINDOW = 200_000


@dataclass(frozen=True, slots=True)
class NewAgent:
    """What an agent is created with.

    ``name`` is unique. ``model`` is a name as in ``DCF_MODEL``; None is whatever is configured for
    ``role``. ``context_window`` is in tokens. ``template`` is the template's name and
    ``template_digest`` what it was then. ``extra`` has the fields of an agent file that DCF has no
    use for, so that an export loses nothing.
    """

    name: str
    description: str = ""
    role: str = ""
    model: str | None = None
    embedder: str | None = None
    system: str = ""
    context_window: int = CONTEXT_WINDOW
    parallel_tool_calls: bool = True
    enable_sleeptime: bool = False
    lifecycle: Lifecycle = "persistent"
    template: str | None = None
    template_digest: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent. ``revision`` grows by one with each change; times are ms since the epoch, UTC."""

    id: str
    name: str
    description: str
    role: str
    model: str | None
    embedder: str | None
    system: str
    context_window: int
    parallel_tool_calls: bool
    enable_sleeptime: bool
    lifecycle: Lifecycle
    template: str | None
    template_digest: str | None
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    extra: Mapping[str, Any]
    revision: int
    created_at: int
    updated_at: int
