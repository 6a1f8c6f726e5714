"""Loading a skill into an agent: everything is looked at first, then one change writes it all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from control_plane import AgentChange, AgentDocument, AgentStore, UnknownAgent
from dcf.agents.loading.checks import LoadChecks
from dcf.agents.loading.errors import LoadRefused
from dcf.agents.loading.library import FoundSkill, SkillLibrary
from dcf.agents.loading.result import Loaded
from dcf.agents.loading.skill_set import MEMBERS, SkillSet
from dcf.problem import Problem
from dcf.skills import Manifest

_NO_CHECKS = LoadChecks()

Needed = dict[str, tuple[Manifest, dict[str, str]]]
"""Manifests by manifestId, each with what its dependencies resolve to."""


async def load_skill(
    agents: AgentStore,
    library: SkillLibrary,
    agent_id: str,
    skill: str,
    *,
    integrity: str | None = None,
    replace_changed: bool = False,
    checks: LoadChecks = _NO_CHECKS,
) -> Loaded:
    """Load ``skill`` (see ``SkillLibrary.find``) and what it needs into an agent.

    A skill that is there with the same digest stays as it is. One with another digest is refused,
    or replaced with ``replace_changed``. ``integrity`` is the ``sha256:…`` that the manifest must
    have, taken of its canonical JSON or of the file it comes from.

    A skill that is not trusted (see ``FoundSkill``) is recorded as such, with a warning; whether it
    is loaded at all is for ``checks.untrusted`` to say.

    Raises LoadRefused with all problems, UnknownAgent, also when the agent was deleted meanwhile.
    In either case, and whatever else happens, the agent is as it was.
    """
    agent = await agents.get(agent_id, ())
    if agent is None:
        raise UnknownAgent(agent=agent_id)
    found = library.find(skill)
    _check_integrity(found, integrity)
    needed = library.with_needed(found.manifest)
    untrusted = [] if found.trusted else [found.manifest.manifest_id]
    problems = await checks.problems([one for one, _ in needed.values()], untrusted)
    if any(problem.is_error for problem in problems):
        raise LoadRefused(problems)
    load = _Load(found.manifest.manifest_id, needed, replace_changed, untrusted)
    document = await agents.update(agent_id, load.plan, MEMBERS, incarnation=agent.incarnation)
    return replace(load.outcome(document), warnings=tuple(problems))


def _check_integrity(found: FoundSkill, integrity: str | None) -> None:
    if integrity is None or integrity in found.digests:
        return
    message = (
        f"{found.manifest.manifest_id} has the digest {found.manifest.digest}, "
        f"and {integrity} was asked for"
    )
    hint = "look at what changed; then ask for the digest it has now"
    raise LoadRefused([Problem("SKILL_LOAD_INTEGRITY", message, hint=hint)])


@dataclass(slots=True)
class _Load:
    """One load; planned anew each time the agent's record turns out to have changed."""

    manifest_id: str
    needed: Needed
    replace_changed: bool
    untrusted: Sequence[str]
    before: SkillSet = field(default_factory=lambda: SkillSet({}))
    after: SkillSet = field(default_factory=lambda: SkillSet({}))
    fresh: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)

    def plan(self, document: AgentDocument) -> AgentChange | None:
        """The change that loads everything that is missing; None when nothing is."""
        self.before, self.after = SkillSet(document.record), SkillSet(document.record)
        after = self.after
        self.fresh, self.replaced = [], self._changed(after)
        if self.manifest_id in after.active and self.manifest_id not in self.replaced:
            # It is there, with what it was loaded with: also where the catalog has newer by now.
            return self._requested()
        conflicts = [name for name in self.replaced if self._differs(name, after)]
        if conflicts and not self.replace_changed:
            raise LoadRefused([self._conflict(name) for name in conflicts])
        self.fresh = [name for name in self.needed if name not in after.active]
        requested = {name: after.active[name]["requested"] for name in self.replaced}
        for name in self.replaced:
            after.remove(name)
        for name in (*self.fresh, *self.replaced):
            manifest, needs = self.needed[name]
            after.add(
                manifest,
                needs,
                requested=requested.get(name, False),
                trusted=name not in self.untrusted,
            )
        after.active[self.manifest_id]["requested"] = True
        after.drop_unneeded()
        return AgentChange([self._event()], after.to_members())

    def _requested(self) -> AgentChange | None:
        """Somebody asks for what was there for another skill only; None when it was asked for."""
        self.replaced = []
        if self.after.active[self.manifest_id]["requested"]:
            return None
        self.after.active[self.manifest_id]["requested"] = True
        return AgentChange([self._event()], self.after.to_members())

    def outcome(self, document: AgentDocument) -> Loaded:
        """What the last plan came to, once it is written."""
        status: Literal["loaded", "already_loaded", "replaced"] = "loaded"
        if self.after.active == self.before.active:
            status = "already_loaded"
        elif self.manifest_id in self.replaced:
            status = "replaced"
        new_blocks = set(self.after.blocks) - set(self.before.blocks)
        came = [name for name in (*self.fresh, *self.replaced) if name in self.after.active]
        return Loaded(
            agent_id=document.agent_id,
            manifest_id=self.manifest_id,
            status=status,
            revision=document.revision,
            skills=tuple(came),
            memory_block_ids=self._ids(came, "memoryBlockIds", new_blocks),
            tool_ids=self._ids(came, "toolIds", set(self.after.tools) - set(self.before.tools)),
            data_block_ids=self._ids(came, "dataSourceBlockIds", new_blocks),
            trusted=bool(self.after.active[self.manifest_id].get("trusted", False)),
        )

    def _ids(self, names: list[str], member: str, new: set[str]) -> tuple[str, ...]:
        ids = (held for name in names for held in self.after.active[name][member] if held in new)
        return tuple(dict.fromkeys(ids))

    def _changed(self, skills: SkillSet) -> list[str]:
        """What is loaded already with another digest, or was not trusted then and is now."""
        return [
            name
            for name in self.needed
            if name in skills.active
            and (self._differs(name, skills) or self._is_confirmed(name, skills))
        ]

    def _differs(self, name: str, skills: SkillSet) -> bool:
        digest: str = skills.active[name]["digest"]
        return digest != self.needed[name][0].digest

    def _is_confirmed(self, name: str, skills: SkillSet) -> bool:
        return name not in self.untrusted and not skills.active[name].get("trusted", False)

    def _conflict(self, name: str) -> Problem:
        there = self.before.active[name]["digest"]
        message = (
            f"{name} is loaded with the digest {there}; this one has {self.needed[name][0].digest}"
        )
        hint = "give the changed skill a new version, or ask to replace the loaded one"
        return Problem("SKILL_LOAD_CHANGED", message, hint=hint)

    def _event(self) -> dict[str, object]:
        return {
            "type": "SkillLoaded",
            "skill": self.manifest_id,
            "digest": self.needed[self.manifest_id][0].digest,
            "with": [name for name in self.fresh if name != self.manifest_id],
            "replaced": self.replaced,
            "trusted": self.manifest_id not in self.untrusted,
        }
