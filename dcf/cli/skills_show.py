"""``dcf skills show``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dcf.cli.answer import Answer
from dcf.cli.generated_skills import open_skills
from dcf.skills import Manifest, SkillTool
from dcf.skills.discovery import Price, price_of


def show_skill(generated: Path, ref: str) -> Answer:
    """The skill that ``ref`` names, whole. Raises UnknownSkill."""
    catalog = open_skills(generated)
    skill = catalog.resolve(ref)
    needed = [other.manifest_id for other in catalog.with_dependencies(skill)[:-1]]
    price = price_of(skill)
    fields = {
        "manifest_id": skill.manifest_id,
        "digest": skill.digest,
        "needs": needed,
        "price": price.to_json(),
        "manifest": skill.raw,
    }
    return Answer(fields, ["\n".join(_lines(skill, needed, price))])


def _lines(skill: Manifest, needed: list[str], price: Price) -> Iterator[str]:
    rights = skill.permissions
    yield f"{skill.manifest_id}  {skill.digest[:19]}…"
    if skill.description:
        yield skill.description
    yield ""
    yield f"tags         {' '.join(skill.tags) or 'none'}"
    yield f"permissions  egress {rights.egress}, risk {rights.risk_level}, secrets " + (
        ", ".join(rights.secrets) or "none"
    )
    if rights.files:
        yield f"files        {', '.join(rights.files)}"
    if needed:
        yield f"needs        {', '.join(needed)}"
    parts = f"directives {price.directives}, tools {price.tools}, data {price.data}"
    yield f"price        about {price.tokens} tokens ({parts})"
    profile = skill.raw.get("complexityProfile")
    if profile:
        yield f"complexity   {_profile(profile)}"
    yield from ("", "directives", *_indented(skill.directives))
    if skill.tools:
        yield from ("", "tools")
    for tool in skill.tools:
        yield from _tool(tool)
    if skill.data_sources:
        yield from ("", "data")
    for source in skill.data_sources:
        about = f": {source.description}" if source.description else ""
        yield f"  {source.id} ({source.destination}, {len(source.text)} characters){about}"


def _profile(profile: dict[str, Any]) -> str:
    scores = " ".join(f"{name}={score}" for name, score in profile["dimensionScores"].items())
    final = profile.get("finalFCS", profile["baseWCS"])
    tier = profile.get("recommendedTier")
    told = f"{final:g}" if tier is None else f"{final:g}, tier {tier}"
    return f"{told}, {profile['maturityLevel']} ({scores})"


def _tool(tool: SkillTool) -> Iterator[str]:
    notes = [] if tool.required else ["optional"]
    notes += ["idempotent"] if tool.idempotent else []
    told = f" ({', '.join(notes)})" if notes else ""
    yield f"  {tool.server_id}:{tool.tool_name}{told}"
    if tool.description:
        yield f"    {tool.description}"
    members: dict[str, Any] = tool.input_schema.get("properties", {})
    must = tool.input_schema.get("required", [])
    for name, schema in members.items():
        yield f"    {name}{'' if name in must else '?'}: {_type(schema)}"


def _type(schema: Any) -> str:
    if not isinstance(schema, dict):
        return json.dumps(schema)
    kind = schema.get("type", "any")
    told = "|".join(kind) if isinstance(kind, list) else str(kind)
    if "enum" in schema:
        told += (
            f" of {', '.join(json.dumps(value, ensure_ascii=False) for value in schema['enum'])}"
        )
    about = schema.get("description")
    return f"{told} - {about}" if about else told


def _indented(text: str) -> Iterator[str]:
    for line in text.rstrip().splitlines():
        yield f"  {line}".rstrip()
