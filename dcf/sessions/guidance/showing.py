"""Guidance in the memory of agents."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from dcf.agents import AgentRuntime
from dcf.memory import MemoryProblem, UnknownAgent
from dcf.sessions.guidance.notebook import Notebook
from dcf.sessions.rendering import Rendered, Stamp, put, show_guidelines
from dcf.workflow import iso

log = logging.getLogger(__name__)

REGISTRATION = "strategist_registration"
REFERENCE = "conductor_reference"
"""Labels of blocks: who advises a conductor, and whom a Strategist advises."""
_LIMIT = 2_000

Memory = Callable[[], Awaitable[AgentRuntime]]
"""Opens the memory of the agents, when it is needed for the first time."""


async def show(memory: Memory, notebook: Notebook, document: Mapping[str, Any]) -> list[str]:
    """Write the guidelines into ``strategist_guidelines`` of conductor and Strategist, and who
    advises whom, as far as both are agents; what went wrong. The record has it all: the next change
    that is shown shows this too."""
    strategist_id = notebook.strategist_id
    try:
        runtime = await memory()
        for name in (notebook.conductor_id, strategist_id):
            agent_id = None if name is None else await agent_named(runtime, name)
            if agent_id is None:
                # Conductors and Strategists need be no agents.
                continue
            await show_guidelines(runtime, agent_id, document)
            if strategist_id is not None:
                label = REFERENCE if name == strategist_id else REGISTRATION
                await put(runtime, agent_id, _joined(label, notebook, strategist_id))
    except MemoryProblem as problem:
        log.warning("the guidelines of %s are not shown: %s", notebook.conductor_id, problem)
        return [f"the memory does not show the guidelines: {problem}"]
    return []


async def agent_named(runtime: AgentRuntime, name: str) -> str | None:
    """The id of the agent with this id, or else this name; None if there is none."""
    try:
        return (await runtime.get(name)).id
    except UnknownAgent:
        found = await runtime.find(name)
        return None if found is None else found.id


def _joined(label: str, notebook: Notebook, strategist_id: str) -> Rendered:
    at = notebook.registered_at
    # Numbered by when it was said: who was registered later is shown.
    stamp = Stamp(None, at, iso(at))
    document = {
        **stamp.to_json(),
        "conductor_agent_id": notebook.conductor_id,
        "strategist_agent_id": strategist_id,
        "registered_at": iso(at),
    }
    description = "Who advises whom, as registered."
    return Rendered(label, description, _LIMIT, stamp, json.dumps(document, ensure_ascii=False))
