"""What observations are found in: one thing that happened, whoever recorded it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from dcf.digest import canonical_json, digest
from dcf.observing.draft import Artifact

EventKind: TypeAlias = Literal["tool-output", "ci-log", "message", "state-output", "attempt-step"]


@dataclass(frozen=True, slots=True)
class SourceEvent:
    """One thing that happened. The texts are of any length, and nobody vouches for them.

    ``source_type`` and ``source_id`` say which thread, execution or log it is of, ``turn`` where in
    it (from 1). ``tool`` was called with ``input`` and gave ``output``; ``said`` is what a person
    or a model wrote. ``files`` are those that the call itself names. ``at`` has a time zone.
    """

    source_type: str
    source_id: str
    turn: int | None
    kind: EventKind
    tool: str = ""
    input: str = ""
    output: str = ""
    said: str = ""
    failed: bool = False
    at: datetime | None = None
    files: tuple[Artifact, ...] = ()


def event_digest(event: SourceEvent) -> str:
    """By which an event is known again that says the same as an earlier one, wherever it is."""
    told = (event.kind, event.tool, event.input, event.output, event.said, event.failed)
    # Half a surrogate pair has no UTF-8 form, and broken logs have such.
    return digest(canonical_json([_encodable(one) for one in told]))


def _encodable(value: str | bool) -> str | bool:
    return value.encode(errors="replace").decode() if isinstance(value, str) else value
