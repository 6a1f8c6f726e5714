"""Unloading a skill, and what an agent has loaded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from control_plane import AgentChange, AgentDocument, AgentStore, UnknownAgent
from dcf.agents.loading.errors import LoadRefused
from dcf.agents.loading.grants import recorded_grants
from dcf.agents.loading.result import Unloaded
from dcf.agents.loading.skill_set import ACTIVE, MEMBERS, TOOLS, SkillSet
from dcf.problem import Problem
from dcf.skills import newest, parse_ref
from dcf.tools import Grant

JSON = Any


async def unload_skill(agents: AgentStore, agent_id: str, skill: str) -> Unloaded:
    """Unload ``skill`` (a manifestId, ``name@version``, ``name@range``, a bare name, each also
    after ``skill://``) and what was only there because of it.

    What other skills hold stays. A skill that is not loaded is no error, and one that others need
    goes with the last of them. Raises LoadRefused when several loaded skills fit, UnknownAgent.
    """
    unload = _Unload(skill)
    document = await agents.update(agent_id, unload.plan, MEMBERS)
    return unload.outcome(document)


async def loaded_skills(agents: AgentStore, agent_id: str) -> dict[str, JSON]:
    """The record ``dcf_active_skills`` by manifestId (see ``skill_set``). Raises UnknownAgent."""
    return dict((await _read(agents, agent_id, ACTIVE)) or {})


async def agent_grants(agents: AgentStore, agent_id: str) -> list[Grant]:
    """What the loaded skills let the agent call. Raises UnknownAgent."""
    return recorded_grants((await _read(agents, agent_id, TOOLS)) or {})


async def _read(agents: AgentStore, agent_id: str, member: str) -> JSON:
    document = await agents.get(agent_id, (member,))
    if document is None:
        raise UnknownAgent(agent=agent_id)
    return document.record.get(member)


@dataclass(slots=True)
class _Unload:
    """One unload; planned anew each time the agent's record turns out to have changed."""

    skill: str
    manifest_id: str | None = None
    before: SkillSet = field(default_factory=lambda: SkillSet({}))
    after: SkillSet = field(default_factory=lambda: SkillSet({}))

    def plan(self, document: AgentDocument) -> AgentChange | None:
        """The change that unloads it; None when there is nothing to do."""
        self.before, self.after = SkillSet(document.record), SkillSet(document.record)
        self.manifest_id = _meant(self.skill, self.before.active)
        if self.manifest_id is None or not self.before.active[self.manifest_id]["requested"]:
            return None
        self.after.active[self.manifest_id]["requested"] = False
        gone = self.after.drop_unneeded()
        event = {"type": "SkillUnloaded", "skill": self.manifest_id, "gone": gone}
        return AgentChange([event], self.after.to_members())

    def outcome(self, document: AgentDocument) -> Unloaded:
        """What the last plan came to, once it is written."""
        name = self.manifest_id
        if name is None:
            return Unloaded(document.agent_id, self.skill, "not_loaded", document.revision)
        gone = sorted(set(self.before.active) - set(self.after.active))
        held = {tool for skill in gone for tool in self.before.active[skill]["toolIds"]}
        return Unloaded(
            agent_id=document.agent_id,
            manifest_id=name,
            status="still_needed" if name in self.after.active else "unloaded",
            revision=document.revision,
            skills=tuple(gone),
            needed_by=tuple(self.after.needed_by(name)),
            removed_tool_ids=tuple(sorted(held - set(self.after.tools))),
            kept_tool_ids=tuple(sorted(held & set(self.after.tools))),
            removed_block_ids=tuple(sorted(set(self.before.blocks) - set(self.after.blocks))),
        )


def _meant(skill: str, active: dict[str, JSON]) -> str | None:
    """The loaded skill that ``skill`` names, or None. Raises LoadRefused when several fit."""
    bare = skill.strip().removeprefix("skill://")
    if bare in active:
        return bare
    ref = parse_ref(bare)
    fitting = [
        name
        for name, entry in active.items()
        if ref.name in (entry["skillName"].lower(), f"skill.{entry['skillName'].lower()}")
        and (ref.wanted == "*" or newest([entry["skillVersion"]], ref.wanted))
    ]
    if len(fitting) > 1:
        message = f"several loaded skills fit {skill!r}: {', '.join(sorted(fitting))}"
        hint = "name the version to unload"
        raise LoadRefused([Problem("SKILL_UNLOAD_AMBIGUOUS", message, hint=hint)])
    return fitting[0] if fitting else None
