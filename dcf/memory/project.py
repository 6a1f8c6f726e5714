"""A project: a folder in which agents work, with blocks that all of them see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class NewProject:
    """What a project is created with. ``path`` is absolute and unique; the folder need not be
    there. ``name`` is that of the folder unless it is given."""

    path: str
    name: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Project:
    """A project. ``last_agent_id`` is the agent of its last session, which may be gone since.
    ``revision`` grows by one with each change; times are ms since the epoch, UTC."""

    id: str
    path: str
    name: str
    last_agent_id: str | None
    metadata: Mapping[str, Any]
    revision: int
    created_at: int
    updated_at: int
