"""A step that no skill covers, and the skill that would: a draft to fill in."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dcf.planner.compiling.gap_data import GapData
from dcf.planner.compiling.shape import Shape
from dcf.planner.compiling.skill_choice import Candidate
from dcf.problem import Problem
from dcf.skills import NewSkill, SourcePlan
from dcf.sop import Sop, Step

_LONGEST = 60
_UNCOVERED = "name a skill in the step, or fill in the draft of one: --drafts skills_src"
_APPROVED = f"{_UNCOVERED}; if it is an approval and no work, add `- Kind: approval`"


@dataclass(frozen=True, slots=True)
class Gap:
    """``step`` has no skill; ``nearest`` are those that come nearest. ``skill`` and ``tool`` (as
    ``server:tool``) are the names of the draft, ``data`` the arguments and the results it would
    have."""

    step: Step
    nearest: tuple[Candidate, ...]
    domain: str
    data: GapData

    @property
    def takes(self) -> Mapping[str, str]:
        """The JSON types of its arguments by name, without those that may be anything."""
        return {name: one.kind for name, one in self.data.takes.items() if one.kind is not None}

    @property
    def gives(self) -> Mapping[str, str]:
        """The JSON types of its results by name."""
        return {name: one.kind for name, one in self.data.gives.items() if one.kind is not None}

    @property
    def skill(self) -> str:
        return f"{self.domain}.{self.action}"

    @property
    def action(self) -> str:
        return action_of(self.step)

    @property
    def tool(self) -> str:
        return f"{self.domain}:{self.action}"

    @property
    def problem(self) -> Problem:
        near = ", ".join(f"{one.skill.name} ({one.score:.2f})" for one in self.nearest)
        told = f"; nearest: {near}" if near else ""
        return Problem(
            "PLAN_GAP",
            f"step {self.step.number} ({self.step.title}): no skill covers it{told}",
            hint=_APPROVED if self.step.approval and not self.step.text else _UNCOVERED,
            line=self.step.line or None,
        )

    def skill_yaml(self) -> str:
        """The draft of the skill, in the form that ``dcf skills`` reads."""
        reports = ", ".join(f"`{name}`" for name in self.gives) or "what came out"
        text = f"{self.step.title}. {self.step.text}".strip()
        lines = [
            "apiVersion: skill/v1",
            "kind: Skill",
            "metadata:",
            f"  manifestId: skill.{self.skill}@0.1.0",
            f"  name: {self.skill}",
            "  version: 0.1.0",
            f"  description: {_flow(_sentence(self.step.title))}",
            f"  tags: [{self.domain}]",
            "spec:",
            "  permissions:",
            "    egress: none",
            "    secrets: []",
            "    riskLevel: low",
            "  directives: |",
            *(f"    {line}" for line in text.splitlines()),
            "",
            f"    1. Call {self.action}.",
            f"    2. Report {reports}.",
            "  tools:",
            f"    - ref: {self.tool}",
            "  tests:",
            "    - name: the stub answers with the examples",
            f"      tool: {self.tool}",
            f"      arguments: {_flow(self._arguments())}",
            f"      expect: {{ contains: {_flow(self._answer())} }}",
        ]
        return "\n".join(lines) + "\n"

    def tool_yaml(self) -> list[str]:
        """The lines of the draft of its tool, whose stand-in answers with examples."""
        return [
            f"{self.action}:",
            "  version: 0.1.0",
            f"  description: {_flow(_sentence(self.step.title))}",
            f"  params: {_flow(_schema(self.data.takes, self.data.optional))}",
            f"  result: {_flow(_schema(self.data.gives))}",
            "  defaults:",
            f"    response: {_flow(self._answer())}",
            "    latencyMs: 10",
        ]

    def _arguments(self) -> dict[str, Any]:
        """Examples of what its tool must be given."""
        given = self.data.takes.items()
        return {name: one.example() for name, one in given if name not in self.data.optional}

    def _answer(self) -> dict[str, Any]:
        """What the stand-in of its tool answers."""
        return {name: shape.example() for name, shape in self.data.gives.items()}

    def to_json(self) -> dict[str, Any]:
        return {
            "step": self.step.number,
            "title": self.step.title,
            "line": self.step.line or None,
            "nearest": [
                {"skill": one.skill.name, "score": round(one.score, 2)} for one in self.nearest
            ],
            "skill": self.skill,
            "tool": self.tool,
            "skill_yaml": self.skill_yaml(),
        }


def write_drafts(root: Path, generated: Path, gaps: Sequence[Gap]) -> NewSkill:
    """Write the drafts of ``gaps`` into the sources below ``root``, with their tools, the index and
    the registry; ``generated`` is where the schemas are. Nothing is overwritten: what is in the way
    is a problem, and with any nothing is written."""
    plan = SourcePlan(root, generated / "schemas")
    drafts = [_joined(alike) for alike in _by_skill(gaps)]
    for gap in drafts:
        plan.create(f"skills/{gap.domain}/{gap.action}.skill.yaml", gap.skill_yaml(), "skill")
    domains = list(dict.fromkeys(gap.domain for gap in drafts))
    for domain in domains:
        mine = [gap for gap in drafts if gap.domain == domain]
        plan.create(f"tools/{domain}.tools.yaml", tools_yaml(domain, mine), "tools")
    plan.index([f"{domain}.tools.yaml" for domain in domains])
    plan.registry(domains)
    if not plan.problems:
        plan.carry_out()
    return NewSkill(plan.problems, plan.written, plan.extended)


def _by_skill(gaps: Sequence[Gap]) -> list[list[Gap]]:
    found: dict[str, list[Gap]] = {}
    for gap in gaps:
        found.setdefault(gap.skill, []).append(gap)
    return list(found.values())


def _joined(alike: Sequence[Gap]) -> Gap:
    """One draft for steps of the same title: it takes and gives what any of them does, and must
    have only what all of them give it."""
    takes = {name: one for gap in reversed(alike) for name, one in gap.data.takes.items()}
    gives = {name: one for gap in reversed(alike) for name, one in gap.data.gives.items()}
    always = {
        name
        for name in takes
        if all(name in gap.data.takes and name not in gap.data.optional for gap in alike)
    }
    return replace(alike[0], data=GapData(takes, gives, frozenset(takes.keys() - always)))


def tools_yaml(domain: str, gaps: Sequence[Gap]) -> str:
    """A tools file with one server that has the tools of ``gaps``."""
    lines = [
        "apiVersion: tools/v1",
        "kind: ToolsRegistry",
        "servers:",
        f"  {domain}:",
        f"    description: What {domain} is for",
        "    tools:",
    ]
    for gap in gaps:
        lines += [f"      {line}" for line in gap.tool_yaml()]
    return "\n".join(lines) + "\n"


def domain_of(sop: Sop) -> str:
    """The name before the dot of skills that are drafted for the steps of ``sop``."""
    return slug(sop.title, "procedure", 30)


def action_of(step: Step) -> str:
    """The name behind the dot of the skill that is drafted for ``step``."""
    return slug(step.title, "do_step")


def slug(title: str, otherwise: str, most: int = _LONGEST) -> str:
    """``title`` as a name of skills and servers: small ASCII words joined by ``_``."""
    words = re.findall(r"[a-z0-9]+", title.lower())
    name = "_".join(words)[:most].strip("_")
    return name if name[:1].isalpha() else otherwise


def _schema(members: Mapping[str, Shape], optional: Collection[str] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: shape.schema() for name, shape in members.items()},
        "required": [name for name in members if name not in optional],
    }


def _flow(value: Any) -> str:
    """JSON, which is YAML too, on one line."""
    return json.dumps(value, ensure_ascii=False)


def _sentence(text: str) -> str:
    cut = text[:400].replace("`", "")
    return cut if cut.endswith((".", "!", "?")) else f"{cut}."
