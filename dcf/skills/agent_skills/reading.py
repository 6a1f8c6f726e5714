"""From the folder of an Agent Skill to a manifest: ours, or one made for a public skill."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcf.problem import Problem, has_errors
from dcf.skills.agent_skills.edits import with_edits
from dcf.skills.agent_skills.folder import MANIFEST, SKILL_MD, SkillFolder, as_data, as_text
from dcf.skills.agent_skills.kept import description_of, directives_of
from dcf.skills.agent_skills.naming import FRONTMATTER, WHOLE, data_id, file_note, skill_name
from dcf.skills.agent_skills.rules import check_skill_text
from dcf.skills.agent_skills.skill_text import SkillText, read_skill_text
from dcf.skills.errors import InvalidManifest
from dcf.skills.manifest import Manifest
from dcf.skills.version import EXACT

_RUNNABLE = re.compile(r"scripts/.+|.+\.(py|sh|bash|js|ts|rb|pl|ps1|bat)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReadSkill:
    """``manifest`` is None with an error among ``problems``; ``ours``: it came with its manifest;
    ``beside`` are files that no manifest can hold."""

    manifest: Manifest | None
    problems: tuple[Problem, ...]
    ours: bool = False
    beside: tuple[str, ...] = ()


def read_skill(folder: SkillFolder, place: Path) -> ReadSkill:
    """The skill in ``folder``, which lies at ``place``. Nothing in it is run."""
    text = as_text(folder.files.get(SKILL_MD))
    if text is None:
        problem = Problem("AGENT_SKILL_TEXT", "this is no UTF-8 text", file=str(place / SKILL_MD))
        return ReadSkill(None, (problem,))
    skill, problems = read_skill_text(text, str(place / SKILL_MD))
    if skill is not None:
        problems = [*problems, *check_skill_text(skill, folder.name)]
    if MANIFEST in folder.files:
        return _ours(folder, skill, problems, place)
    if skill is None or has_errors(problems):
        return ReadSkill(None, tuple(problems))
    texts = _texts(folder)
    beside = sorted(set(folder.files) - set(texts) - {SKILL_MD})
    manifest = Manifest.from_document(_document(skill, texts), str(place))
    return ReadSkill(manifest, (*problems, *_notes(folder, beside, place)), beside=tuple(beside))


def _ours(
    folder: SkillFolder, skill: SkillText | None, problems: list[Problem], place: Path
) -> ReadSkill:
    try:
        document = json.loads(folder.files[MANIFEST])
        if not isinstance(document, dict):
            raise ValueError("it is no object")
        manifest = Manifest.from_document(document, str(place / MANIFEST))
    except InvalidManifest as error:
        placed = [problem.at(file=str(place / MANIFEST)) for problem in error.problems]
        return ReadSkill(None, (*problems, *placed), ours=True)
    except (ValueError, RecursionError) as error:
        message = f"this is no JSON: {error}"
        hint = "export the skill again, or remove the file to import it as a foreign one"
        wrong = Problem("AGENT_SKILL_MANIFEST", message, hint=hint, file=str(place / MANIFEST))
        return ReadSkill(None, (*problems, wrong), ours=True)
    if skill is None or has_errors(problems):
        return ReadSkill(None, tuple(problems), ours=True)
    read, edited, beside = with_edits(manifest, folder, skill, place)
    return ReadSkill(read, (*problems, *edited), ours=True, beside=tuple(beside))


def _texts(folder: SkillFolder) -> dict[str, str]:
    """The files that can be data sources, in order of their paths."""
    found = {path: as_data(data) for path, data in sorted(folder.files.items()) if path != SKILL_MD}
    return {path: text for path, text in found.items() if text is not None}


def _document(skill: SkillText, texts: dict[str, str]) -> dict[str, Any]:
    name = skill_name(skill.text("name"))
    version = _version(skill)
    bodiless = not skill.body.strip()
    kept = {
        "id": "frontmatter",
        "text": skill.block + (skill.body if bodiless else ""),
        "description": WHOLE if bodiless else FRONTMATTER,
    }
    sources, taken = [_source(**kept)], {"frontmatter"}
    for path, text in texts.items():
        name_of = data_id(path, taken)
        taken.add(name_of)
        sources.append(_source(name_of, text, file_note(path)))
    return {
        "manifestApiVersion": "v2.1.0",
        "skillPackageId": None,
        "manifestId": f"skill.{name}@{version}",
        "skillName": name,
        "skillVersion": version,
        "skillDirectives": directives_of(skill),
        "description": description_of(skill),
        "tags": [],
        "permissions": {"egress": "none", "secrets": [], "riskLevel": "low"},
        "requiredTools": [],
        "requiredDataSources": sources,
    }


def _version(skill: SkillText) -> str:
    metadata = skill.fields.get("metadata")
    version = metadata.get("version") if isinstance(metadata, dict) else None
    fits = isinstance(version, str) and len(version) <= 64 and EXACT.fullmatch(version)
    return str(version) if fits else "1.0.0"


def _source(id: str, text: str, description: str) -> dict[str, Any]:
    return {
        "dataSourceId": id,
        "destination": "archival_memory",
        "content": {"type": "text_content", "text": text},
        "description": description,
    }


def _notes(folder: SkillFolder, beside: list[str], place: Path) -> list[Problem]:
    notes = []
    scripts = sorted(path for path in folder.files if _RUNNABLE.fullmatch(path))
    for path in scripts:
        message = "a program: an agent can read it, nothing runs it"
        hint = "offer what it does as a tool of an MCP server"
        notes.append(Problem("AGENT_SKILL_SCRIPT", message, "", hint, "warning", str(place / path)))
    for path in beside:
        message = "no text of at most 1 MiB: kept beside the skill, agents do not get it"
        notes.append(Problem("AGENT_SKILL_BINARY", message, "", "", "warning", str(place / path)))
    return notes
