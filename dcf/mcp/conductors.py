"""Who conducts a session: an agent with a model where one is configured, else rules."""

from __future__ import annotations

from typing import Protocol

from dcf.agents.models import REHEARSAL, named_model
from dcf.mcp.platform import Platform
from dcf.mcp.rule_lookups import discover_for, workflows_for
from dcf.mcp.session_blocks import conducting_agent
from dcf.sessions.conductor import Conductor, ConductorRules, Reply

_KEPT = 500


class Conducting(Protocol):
    """What conducts sessions. Everything may be repeated, from any process; see ``Conductor``."""

    async def turn(self, session_id: str, text: str, *, request_id: str | None = None) -> Reply:
        """Say something to it. Raises UnknownSession, SessionProblem."""
        ...

    async def attend(self, session_id: str) -> list[Reply]:
        """What it says to what came since. Raises UnknownSession."""
        ...

    async def answer(self, session_id: str, request_id: str) -> Reply | None:
        """Its last word on a request, None while that is open. Raises UnknownSession."""
        ...

    async def finalize(self, session_id: str, *, cancel: bool = False) -> Reply:
        """Begin to end the session. Raises UnknownSession."""
        ...


async def conductor_for(platform: Platform, session_id: str) -> Conducting:
    """Who conducts the session in its first conductor's name. Raises UnknownSession, and what keeps
    the agents from being opened."""
    conductor_id = (await platform.sessions.get(session_id)).head.conductors[0]
    if await _has_model(platform, conductor_id):
        # Brings agents and their templates.
        from dcf.mcp.model_conductor import ModelConductor

        kept = platform.conductors
        if conductor_id not in kept and len(kept) >= _KEPT:
            del kept[next(iter(kept))]
        return kept.setdefault(conductor_id, ModelConductor(platform, conductor_id))
    return Conductor(
        platform.sessions,
        platform.guidance,
        conductor_id,
        rules=ConductorRules.of(platform.config.env),
        discover=discover_for(platform),
        workflows=workflows_for(platform),
    )


async def _has_model(platform: Platform, conductor_id: str) -> bool:
    """Whether the conductor is an agent with a model of its own, or conductors have one."""
    named = named_model(platform.config.env, role="conductor").name
    if named != REHEARSAL:
        return True
    agent = await conducting_agent(platform, conductor_id)
    return agent is not None and agent.model not in (None, REHEARSAL)
