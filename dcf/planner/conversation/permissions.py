"""What a workflow may do, read from the workflow itself: nothing else is believed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dcf.digest import canonical_json, digest
from dcf.skills import Manifest, SkillCatalog, UnknownSkill
from dcf.skills.complexity import assess
from dcf.skills.discovery import EGRESS, RISKS, price_of


@dataclass(frozen=True, slots=True)
class Permissions:
    """Of all skills of a workflow and those they need. ``skills`` has the digest of each manifest
    by its id; ``risk`` and ``egress`` are the highest, ``tier`` the highest that a state asks for
    or its skills need;
    ``tokens`` what all the skills cost a model once. ``approvals`` are the states that a person
    decides, ``agents`` the templates that states name, ``files`` what states that ask for context
    may be told of."""

    skills: Mapping[str, str]
    risk: str
    egress: str
    secrets: tuple[str, ...]
    tools: tuple[str, ...]
    approvals: tuple[str, ...]
    agents: tuple[str, ...]
    tier: int
    tokens: int
    budget: Mapping[str, Any]
    files: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "skills": dict(self.skills),
            "risk": self.risk,
            "egress": self.egress,
            "secrets": list(self.secrets),
            "tools": list(self.tools),
            "approvals": list(self.approvals),
            "agents": list(self.agents),
            "highest_tier": self.tier,
            "skill_tokens": self.tokens,
            "budget": dict(self.budget),
            **({"files": list(self.files)} if self.files else {}),
        }


def permissions_of(document: Mapping[str, Any], catalog: SkillCatalog) -> Permissions:
    """Those of a workflow that was validated with ``catalog``."""
    manifests: dict[str, Manifest] = {}
    approvals: list[str] = []
    agents: set[str] = set()
    files: set[str] = set()
    tier = 0
    for name, state in _states(document["asl"]):
        binding = state.get("AgentBinding") or {}
        if binding.get("approval"):
            approvals.append(name)
        template = binding.get("agent_template_ref") or binding.get("agent_ref") or {}
        agents.update(
            str(named) for named in (template.get("name") or template.get("id"),) if named
        )
        own = _own(binding, catalog)
        for manifest in own:
            for one in catalog.with_dependencies(manifest):
                manifests[one.manifest_id] = one
                if "context" in binding:
                    files.update(one.permissions.files)
        asked = binding.get("tier")
        tier = max(
            tier,
            assess(own).adjusted_tier if own else 0,
            asked if isinstance(asked, int) else 0,
        )
    used = [manifests[id_] for id_ in sorted(manifests)]
    return Permissions(
        {one.manifest_id: one.digest for one in used},
        max((one.permissions.risk_level for one in used), key=RISKS.index, default=RISKS[0]),
        max((one.permissions.egress for one in used), key=EGRESS.index, default=EGRESS[0]),
        tuple(sorted({name for one in used for name in one.permissions.secrets})),
        tuple(sorted({f"{t.server_id}:{t.tool_name}" for one in used for t in one.tools})),
        tuple(approvals),
        tuple(sorted(agents)),
        tier,
        sum(price_of(one).tokens for one in used),
        dict(document.get("budget") or {}),
        tuple(sorted(files)),
    )


def own_skills(document: Mapping[str, Any], catalog: SkillCatalog) -> tuple[Manifest, ...]:
    """Those that the states of a workflow name themselves, each once, in order."""
    found = {
        one.manifest_id: one
        for _, state in _states(document["asl"])
        for one in _own(state.get("AgentBinding") or {}, catalog)
    }
    return tuple(found.values())


def raised_tier(document: Mapping[str, Any], catalog: SkillCatalog) -> int | None:
    """The highest tier that a state asks for although its own skills come to a lower one."""
    raised = []
    for _, state in _states(document["asl"]):
        binding = state.get("AgentBinding") or {}
        asked, own = binding.get("tier"), _own(binding, catalog)
        if isinstance(asked, int) and asked > (assess(own).adjusted_tier if own else 0):
            raised.append(asked)
    return max(raised, default=None)


def shown_digest(
    workflow: Mapping[str, Any], value: Mapping[str, Any], permissions: Mapping[str, Any]
) -> str:
    """By which an approval knows again what was shown: the workflow, its input, and what it may
    do, down to the manifests of its skills."""
    return digest(
        canonical_json({"workflow": workflow, "input": value, "permissions": permissions})
    )


def _states(machine: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, state in machine.get("States", {}).items():
        yield name, state
        inner = [*state.get("Branches", ())]
        inner += [state[key] for key in ("ItemProcessor", "Iterator") if key in state]
        for one in inner:
            yield from _states(one)


def _own(binding: Mapping[str, Any], catalog: SkillCatalog) -> Sequence[Manifest]:
    refs = binding.get("skills") or ()
    return [found for ref in refs if (found := _resolved(catalog, str(ref))) is not None]


def _resolved(catalog: SkillCatalog, ref: str) -> Manifest | None:
    try:
        return catalog.resolve(ref)
    except UnknownSkill:
        return None
