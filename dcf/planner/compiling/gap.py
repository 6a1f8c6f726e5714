"""A step that no skill covers, and the skill that would: a draft to fill in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcf.planner.compiling.skill_choice import Candidate
from dcf.problem import Problem
from dcf.skills import NewSkill, SourcePlan
from dcf.sop import Step

_EXAMPLES: Mapping[str, Any] = {
    "string": "example",
    "number": 1.5,
    "integer": 1,
    "boolean": True,
    "array": [],
    "object": {},
}
_LONGEST = 60
_UNCOVERED = "name a skill in the step, or fill in the draft of one: --drafts skills_src"
_APPROVED = f"{_UNCOVERED}; if it is an approval and no work, add `- Kind: approval`"


@dataclass(frozen=True, slots=True)
class Gap:
    """``step`` has no skill; ``nearest`` are those that come nearest. ``skill`` and ``tool`` (as
    ``server:tool``) are the names of the draft. ``takes`` and ``gives`` are the arguments and the
    results it would have, with JSON types."""

    step: Step
    nearest: tuple[Candidate, ...]
    domain: str
    takes: Mapping[str, str]
    gives: Mapping[str, str]

    @property
    def skill(self) -> str:
        return f"{self.domain}.{self.action}"

    @property
    def action(self) -> str:
        return slug(self.step.title, "do_step")

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
            f"  description: {_quoted(_sentence(self.step.title))}",
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
        ]
        return "\n".join(lines) + "\n"

    def tool_yaml(self) -> list[str]:
        """The lines of the draft of its tool, whose stand-in answers with examples."""
        answer = {name: _EXAMPLES[kind] for name, kind in self.gives.items()}
        return [
            f"{self.action}:",
            "  version: 0.1.0",
            f"  description: {_quoted(_sentence(self.step.title))}",
            f"  params: {json.dumps(_schema(self.takes))}",
            f"  result: {json.dumps(_schema(self.gives))}",
            "  defaults:",
            f"    response: {json.dumps(answer)}",
            "    latencyMs: 10",
        ]

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
    for gap in gaps:
        plan.create(f"skills/{gap.domain}/{gap.action}.skill.yaml", gap.skill_yaml(), "skill")
    domains = list(dict.fromkeys(gap.domain for gap in gaps))
    for domain in domains:
        mine = [gap for gap in gaps if gap.domain == domain]
        plan.create(f"tools/{domain}.tools.yaml", tools_yaml(domain, mine), "tools")
    plan.index([f"{domain}.tools.yaml" for domain in domains])
    plan.registry(domains)
    if not plan.problems:
        plan.carry_out()
    return NewSkill(plan.problems, plan.written, plan.extended)


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


def slug(title: str, otherwise: str, most: int = _LONGEST) -> str:
    """``title`` as a name of skills and servers: small ASCII words joined by ``_``."""
    words = re.findall(r"[a-z0-9]+", title.lower())
    name = "_".join(words)[:most].strip("_")
    return name if name[:1].isalpha() else otherwise


def _schema(members: Mapping[str, str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in members.items()},
        "required": list(members),
    }


def _sentence(text: str) -> str:
    cut = text[:400].replace("`", "")
    return cut if cut.endswith((".", "!", "?")) else f"{cut}."


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
