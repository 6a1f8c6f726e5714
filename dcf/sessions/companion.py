"""A companion of a session: an agent that does one task at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dcf.sessions.plain import plain, read_into

CompanionStatus = Literal["idle", "busy", "error", "lost", "dismissing"]

GENERALIST = "generalist"
PREFIX = "companion-"

_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Companion:
    """One companion. ``skills`` are those it was made for: tasks that need them come to it first.

    ``tier`` or ``model`` are what it thinks with at least; ``shared_blocks`` are labels of memory
    blocks that it shares with its conductor. An ``external`` one is served by an MCP client, which
    shows the token that ``token_digest`` is the SHA-256 of, others by a companion process.
    ``seated_at`` is when somebody began to serve it; None before. Times are ms by Redis's clock.
    """

    companion_id: str
    name: str
    created_at: int
    created_by: str
    specialization: str = GENERALIST
    skills: tuple[str, ...] = ()
    tier: int | None = None
    model: str | None = None
    persona: str | None = None
    shared_blocks: tuple[str, ...] = ()
    external: bool = False
    token_digest: str | None = None
    status: CompanionStatus = "idle"
    task_id: str | None = None
    seated_at: int | None = None
    idle_since: int | None = None
    succeeded: int = 0
    failed: int = 0
    reason: str | None = None
    dismissed_at: int | None = None

    def to_json(self) -> dict[str, Any]:
        return plain(self)

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Companion:
        lists = {name: tuple(raw.get(name, ())) for name in ("skills", "shared_blocks")}
        return read_into(cls, raw)(**lists)


def companion_id_of(specialization: str, unique: str) -> str:
    """An id that people can tell apart: ``companion-billing-9f8e7d``."""
    kind = _NOT_IN_A_NAME.sub("-", specialization.lower()).strip("-")[:24] or GENERALIST
    return f"{PREFIX}{kind}-{unique[-6:]}"
