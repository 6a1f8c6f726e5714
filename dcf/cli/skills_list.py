"""``dcf skills list``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.generated_skills import open_skills
from dcf.cli.screen import Screen
from dcf.cli.skills_new import check_risk
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.skills import Manifest

_CELLS = ("skill", "risk", "egress", "tools", "tags", "description")
_NARROW = 3
"""So many of them, and the description, on a screen that is not wide."""
_WIDE = 140
_GAP = "  "


def list_skills(generated: Path, tags: Sequence[str], risk: str | None) -> Answer:
    """The generated skills that have all ``tags`` and the ``risk`` level, by name then version."""
    problems = check_risk(risk)
    if problems:
        raise BadInput(problems)
    catalog = open_skills(generated)
    found = [skill for skill in catalog if _meant(skill, tags, risk)]
    width = Screen(as_json=False).human.width
    show = [Text(line) for line in _lines(found, width)] if found else []
    if len(found) != len(catalog) or not found:
        show.append(Text(f"{len(found)} of {counted(len(catalog), 'skill', 'skills')}"))
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


def _lines(skills: Sequence[Manifest], width: int) -> list[str]:
    """One line a skill in ``width`` columns. The reference is whole, since it is copied; what does
    not fit of the description is left out, and on a narrow screen the tags are."""
    rows = [_CELLS, *map(_cells, skills)]
    if width < _WIDE:
        rows = [(*row[:_NARROW], row[-1]) for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)][:-1]
    left = width - sum(widths) - len(_GAP) * len(widths)
    lines = []
    for *cells, description in rows:
        about = Text(" ".join(description.split()))
        about.truncate(max(left, 1), overflow="ellipsis")
        padded = [set_cell_size(cell, size) for cell, size in zip(cells, widths, strict=True)]
        lines.append(_GAP.join([*padded, about.plain]).rstrip())
    return lines


def _cells(skill: Manifest) -> tuple[str, ...]:
    rights = skill.permissions
    ref = f"{skill.name}@{skill.version}"
    about = (str(len(skill.tools)), " ".join(skill.tags), skill.description)
    return (ref, rights.risk_level, rights.egress, *about)
