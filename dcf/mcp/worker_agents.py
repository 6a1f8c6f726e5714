"""Agents for the Tasks of a run, made from their templates: each is assigned to its state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from control_plane import AgentExists, NameTaken, UnknownRun, assign, assigned
from dcf.agents import choose_model
from dcf.agents.models import REHEARSAL
from dcf.agents.templates import Template, UnknownTemplate, template_named
from dcf.mcp.agent_life import agent_of, by_tool, make_agent
from dcf.mcp.platform import Platform
from dcf.skills import Manifest
from dcf.worker import tags_for

_LONGEST = 56
_CUT = 48


@dataclass(frozen=True, slots=True)
class AgentPlan:
    """Which agents to make: one for each state of ``skills``, from the template that ``templates``
    names for it, else from that of workers. ``keep``: those that a state is
    assigned to stay; ``select``: models are chosen by complexity under ``latency``."""

    workflow_id: str
    skills: dict[str, tuple[Manifest, ...]]
    templates: Mapping[str, str]
    prefix: str
    suffix: str
    tags: tuple[str, ...]
    keep: bool
    select: bool
    latency: str


async def make_agents(platform: Platform, plan: AgentPlan) -> dict[str, Any]:
    """``{agents_map, created, existing, model_selections, warnings}``. Safe to repeat: an id
    follows from run and state."""
    store = platform.store
    home = await platform.home()
    before = await assigned(store, plan.workflow_id)
    created, existing = [], []
    selections: dict[str, Any] = {}
    warnings: list[str] = []
    for number, (state, skills) in enumerate(plan.skills.items()):
        name = _name(plan, state, number)
        kept = before.get(state) if plan.keep else None
        if kept is not None and await platform.agents.get(kept, ()) is not None:
            existing.append({"state": state, "agent_id": kept, "agent_name": name})
            continue
        chosen = None
        if plan.select and skills:
            chosen = choose_model(skills, platform.config.env, latency_requirement=plan.latency)
        template = _template(platform, plan.templates.get(state))
        new = template.new_agent(
            name,
            model=None if chosen is None or chosen.model == REHEARSAL else chosen.model,
            tags=(*tags_for(plan.workflow_id, state), *plan.tags),
        )
        made = _agent_id(plan.workflow_id, number, plan.keep, platform.new_id())
        agent_id = made if home.is_local else None
        row = {"state": state, "agent_id": made, "agent_name": name}
        try:
            agent, _ = await make_agent(
                platform,
                replace(new, lifecycle="ephemeral"),
                template.blocks,
                agent_id=agent_id,
                by=by_tool("create_worker_agents"),
            )
        except AgentExists:
            existing.append(row)
        except NameTaken as taken:
            other = await agent_of(platform, str(taken.fields["id"]))
            if other is None or not set(tags_for(plan.workflow_id, state)) <= set(other.tags):
                raise
            existing.append({**row, "agent_id": other.id})
        else:
            created.append({**row, "agent_id": agent.id})
        if chosen is not None:
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


def _template(platform: Platform, named: str | None) -> Template:
    own = platform.config.templates
    try:
        return template_named(named or "worker", own)
    except UnknownTemplate:
        # References of other systems' workflows name what was there.
        return template_named("worker", own)


def _agent_id(workflow_id: str, number: int, keep: bool, fresh: str) -> str:
    """The same again for the same run and state, unless a new agent is wanted."""
    same = f"wf:{workflow_id}:{number}"
    return same if keep else f"{same}:{fresh[:8]}"


def _name(plan: AgentPlan, state: str, number: int) -> str:
    run = plan.workflow_id if plan.workflow_id.startswith("wf-") else f"wf-{plan.workflow_id}"
    name = f"{plan.prefix}{run}-{state}{plan.suffix}"
    shown = "".join(letter if letter.isprintable() else "_" for letter in name)
    return shown if len(shown) <= _LONGEST else f"{shown[:_CUT]}-{number}"
