"""Agents for the Tasks of a run: one record each, assigned to its state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from control_plane import AgentExists, AgentStore, UnknownRun, assign, assigned
from dcf.agents import choose_model
from dcf.mcp.platform import Platform
from dcf.skills import Manifest

_LONGEST = 56
_CUT = 48


@dataclass(frozen=True, slots=True)
class AgentPlan:
    """Which agents to make: one for each state of ``skills``. ``keep``: those that a state is
    assigned to stay; ``select``: models are chosen by complexity under ``latency``."""

    workflow_id: str
    skills: dict[str, tuple[Manifest, ...]]
    prefix: str
    suffix: str
    tags: tuple[str, ...]
    keep: bool
    select: bool
    latency: str


async def make_agents(platform: Platform, plan: AgentPlan) -> dict[str, Any]:
    """``{agents_map, created, existing, model_selections, warnings}``. Safe to repeat: an id
    follows from run and state."""
    agents = AgentStore(platform.backend)
    store = platform.store
    before = await assigned(store, plan.workflow_id)
    created, existing = [], []
    selections: dict[str, Any] = {}
    warnings: list[str] = []
    for number, (state, skills) in enumerate(plan.skills.items()):
        name = _name(plan, state, number)
        kept = before.get(state) if plan.keep else None
        if kept is not None and await agents.get(kept) is not None:
            existing.append({"state": state, "agent_id": kept, "agent_name": name})
            continue
        agent_id = _agent_id(plan.workflow_id, number, plan.keep, platform.new_id())
        tags = (f"wf:{plan.workflow_id}", f"state:{state}", "role:worker", *plan.tags)
        row = {"state": state, "agent_id": agent_id, "agent_name": name}
        try:
            await agents.create(agent_id, name, tags=tags)
        except AgentExists:
            existing.append(row)
        else:
            created.append(row)
        if plan.select and skills:
            chosen = choose_model(skills, platform.config.env, latency_requirement=plan.latency)
            found = [str(one) for one in chosen.assessment.warnings]
            selections[state] = {
                **chosen.to_json(),
                "reasoning": chosen.assessment.reasoning,
                "warnings": found,
            }
    rows = [*created, *existing]
    agents_map = {row["state"]: row["agent_id"] for row in rows}
    try:
        await assign(store, plan.workflow_id, agents_map)
    except UnknownRun:
        warnings.append(
            "the run does not exist yet: pass agents_map as agents_map_json when it is created"
        )
    return {
        "status": "created" if created else "exists",
        "agents_map": agents_map,
        "created": created,
        "existing": existing,
        "model_selections": selections,
        "warnings": warnings,
    }


def _agent_id(workflow_id: str, number: int, keep: bool, fresh: str) -> str:
    """The same again for the same run and state, unless a new agent is wanted."""
    same = f"wf:{workflow_id}:{number}"
    return same if keep else f"{same}:{fresh[:8]}"


def _name(plan: AgentPlan, state: str, number: int) -> str:
    run = plan.workflow_id if plan.workflow_id.startswith("wf-") else f"wf-{plan.workflow_id}"
    name = f"{plan.prefix}{run}-{state}{plan.suffix}"
    shown = "".join(letter if letter.isprintable() else "_" for letter in name)
    return shown if len(shown) <= _LONGEST else f"{shown[:_CUT]}-{number}"
