"""Observations as models read them: rows of an index, and all of single ones.

What a source alone said of one, its note, is for people: no model is told it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from dcf.mcp.platform import Platform
from dcf.memory import Observation, ObservationDetails, details_of, rows_of, short_id
from dcf.workflow import iso


async def index_rows(platform: Platform, observations: Sequence[Observation]) -> list[str]:
    """A row for each, of at most 40 tokens."""
    now = round(platform.clock() * 1000)
    # Tokens are counted.
    return await asyncio.to_thread(rows_of, observations, now) if observations else []


def details_view(one: ObservationDetails) -> dict[str, Any]:
    """All of an observation that a model is told."""
    seen = one.observation
    return {
        "id": short_id(seen.id),
        "uri": str(seen.citation),
        "type": seen.type,
        "text": details_of(seen),
        "concepts": list(seen.concepts),
        "workflow": seen.workflow,
        "project": seen.project,
        "pinned": seen.pinned,
        "at": iso(seen.at),
        "times": seen.times,
        "used": seen.used,
        "tokens": seen.tokens,
        "seen": [{"source": str(it.origin.citation), "at": iso(it.at)} for it in one.seen]
        or [{"source": str(seen.origin.citation), "at": iso(seen.at)}],
    }


def details_text(one: ObservationDetails) -> str:
    """The same as Markdown."""
    view = details_view(one)
    sources = "\n".join(f"- {it['source']} ({it['at']})" for it in view["seen"])
    of = f" of {one.observation.workflow}" if one.observation.workflow else ""
    return f"{view['text']}\n\nSeen {view['times']} times{of}, newest first:\n{sources}\n"
