"""The block ``strategist_guidelines``: what the Strategist advises the conductor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcf.sessions.rendering.fitting import Part, Room, fitted
from dcf.sessions.rendering.rendered import Rendered, Stamp

LABEL = "strategist_guidelines"
ROOM = Room(8_000, 3_000)
# What is looked up before each delegation comes before what is read once.
_FIRST = (
    "companion_scaling",
    "model_selection",
    "skill_preferences",
    "companion_preferences",
    "warnings",
    "recommendations",
)
_ALWAYS = frozenset({"revision", "updated_at", "update_count"})


def strategist_guidelines(document: Mapping[str, Any], *, room: Room = ROOM) -> Rendered:
    """The block of guidelines that have a ``revision`` and ``updated_at`` of their own; lists in
    them have the oldest element first. Where there is room it is the document as it is."""
    stamp = Stamp(None, int(document["revision"]), document.get("updated_at") or "")
    where = f"the conductor's guidelines, revision {stamp.revision}"
    known = [name for name in _FIRST if name in document]
    others = [name for name in document if name not in _ALWAYS and name not in _FIRST]
    parts = [Part(name, where) for name in (*known, *others)]
    return Rendered(
        LABEL,
        "Advice of the Strategist, published by the tool for it.",
        room.size,
        stamp,
        fitted(dict(document), parts, room),
    )
