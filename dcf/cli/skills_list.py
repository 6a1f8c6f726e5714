"""``dcf skills list``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.skills_new import check_risk
from dcf.cli.trouble import BadInput
from dcf.skills import Manifest, SkillCatalog


def list_skills(generated: Path, tags: Sequence[str], risk: str | None) -> Answer:
    """The generated skills that have all ``tags`` and the ``risk`` level, by name then version."""
    problems = check_risk(risk)
    if problems:
        raise BadInput(problems)
    catalog = SkillCatalog.load(generated)
    found = [skill for skill in catalog if _meant(skill, tags, risk)]
    show: list[Any] = [_table(found)] if found else []
    if len(found) != len(catalog) or not found:
        show.append(f"{len(found)} of {len(catalog)} skills")
    return Answer({"skills": [_entry(skill) for skill in found], "total": len(catalog)}, show)


def _meant(skill: Manifest, tags: Sequence[str], risk: str | None) -> bool:
    return set(tags) <= set(skill.tags) and risk in (None, skill.permissions.risk_level)


def _entry(skill: Manifest) -> dict[str, Any]:
    return {
        "manifest_id": skill.manifest_id,
        "name": skill.name,
        "version": skill.version,
        "description": skill.description,
        "tags": list(skill.tags),
        "risk_level": skill.permissions.risk_level,
        "egress": skill.permissions.egress,
        "tools": [f"{tool.server_id}:{tool.tool_name}" for tool in skill.tools],
        "dependencies": list(skill.dependencies),
    }


def _table(skills: Sequence[Manifest]) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("skill", "risk", "egress", "tools", "tags", "description"):
        table.add_column(title, no_wrap=title != "description", overflow="ellipsis")
    for skill in skills:
        rights = skill.permissions
        cells = (f"{skill.name}@{skill.version}", rights.risk_level, rights.egress)
        rest = (str(len(skill.tools)), " ".join(skill.tags), skill.description)
        table.add_row(*map(Text, (*cells, *rest)))
    return table
