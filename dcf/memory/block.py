"""A memory block: a labelled text that stands in the context of the agents that hold it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

BlockType: TypeAlias = Literal["global", "project", "shared"]
OnLimit: TypeAlias = Literal["warn", "truncate", "reject"]
"""What a write over the hard limit does: is kept with a warning, is cut, or is refused."""
Provenance: TypeAlias = Literal["new", "global", "project", "imported"]


@dataclass(frozen=True, slots=True)
class NewBlock:
    """What a block is created with. Limits are bytes of UTF-8, None is no limit; a value over
    ``soft_limit`` is kept with a warning."""

    label: str
    value: str = ""
    description: str = ""
    type: BlockType = "global"
    soft_limit: int | None = None
    hard_limit: int | None = None
    on_limit: OnLimit = "reject"
    read_only: bool = False
    provenance: Provenance = "new"
    project: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Block:
    """A block as it is. ``revision`` grows by one with each change of anything in it; times are ms
    since the epoch, UTC. ``warning`` says that a limit is reached, after a write."""

    id: str
    label: str
    value: str
    description: str
    type: BlockType
    soft_limit: int | None
    hard_limit: int | None
    on_limit: OnLimit
    read_only: bool
    provenance: Provenance
    project: str | None
    metadata: Mapping[str, Any]
    revision: int
    created_at: int
    updated_at: int
    warning: str | None = None
