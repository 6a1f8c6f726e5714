"""Observations as models read them: rows of an index, and all of single ones.

What a source alone said of one, its note, is for people: no model receives it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from dcf.knowledge import TASK_WORKFLOW
from dcf.mcp.platform import Platform
from dcf.memory import (
    ContextSetting,
    MemoryProblem,
    Observation,
    ObservationDetails,
    details_of,
    project_of_runs,
    rows_of,
    short_id,
)
from dcf.workflow import iso

log = logging.getLogger(__name__)


async def index_rows(platform: Platform, observations: Sequence[Observation]) -> list[str]:
    """A row for each, of at most 40 tokens."""
    now = round(platform.clock() * 1000)
    # Tokens are counted.
    return await asyncio.to_thread(rows_of, observations, now) if observations else []


async def told_in_sessions(platform: Platform) -> str:
    """What an agent that conducts a session is told of earlier tasks of sessions in the project of
    this server, as its settings say. What keeps the memory from being read keeps no session from
    going on. Raises BadContextSetting."""
    config = platform.config
    setting = ContextSetting.from_env(config.env)
    project = project_of_runs(config.generated)
    try:
        memory = (await platform.home()).memory
        pack = await memory.contexts.of_work(project, TASK_WORKFLOW, setting, begins=True)
    except MemoryProblem as problem:
        log.warning("the session goes on without observations: %s", problem)
        return ""
    return pack.text


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
        "by_model": seen.extracted,
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
    times = "once" if view["times"] == 1 else f"{view['times']} times"
    of = f" of {one.observation.workflow}" if one.observation.workflow else ""
    of += ", found by a model" if one.observation.extracted else ""
    return f"{view['text']}\n\nSeen {times}{of}, newest first:\n{sources}\n"
