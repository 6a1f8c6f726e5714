"""Putting the instructions of skills into an agent's context, and taking them out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dcf.memory.audit.journal import Journal
from dcf.memory.entities import SKILL
from dcf.memory.skill import Skill
from dcf.memory.skill_folders.errors import SkillsTooLarge
from dcf.memory.skill_folders.keeping import keep_blocks, loaded_limit, loaded_size
from dcf.memory.skill_folders.rows import loaded_in_order, skill_of, skill_rows, wanted_rows


def load(journal: Journal, agent_id: str, names: Sequence[str]) -> tuple[Skill, ...]:
    """Load skills, all or none. Raises UnknownAgent, UnknownSkills, SkillsTooLarge."""
    wanted = wanted_rows(journal.connection, agent_id, names)
    rows = skill_rows(journal.connection, agent_id)
    before = [row["name"] for row in loaded_in_order(rows)]
    last = max((row["loaded_as"] or 0 for row in rows.values()), default=0)
    new = [row for row in wanted if row["loaded_as"] is None]
    for number, row in enumerate(new, last + 1):
        rows[row["name"]] = _written(journal, row, number)
    limit = loaded_limit(journal.connection, agent_id)
    size = loaded_size(rows)
    if new and limit is not None and size > limit:
        raise SkillsTooLarge([row["name"] for row in new], size, limit, before)
    if new:
        keep_blocks(journal, agent_id, rows)
    return tuple(skill_of(rows[row["name"]]) for row in wanted)


def unload(journal: Journal, agent_id: str, names: Sequence[str]) -> tuple[Skill, ...]:
    """Unload skills; those that are not loaded stay so. Raises UnknownAgent, UnknownSkills."""
    wanted = wanted_rows(journal.connection, agent_id, names)
    rows = skill_rows(journal.connection, agent_id)
    for row in wanted:
        if row["loaded_as"] is not None:
            rows[row["name"]] = _written(journal, row, None)
    keep_blocks(journal, agent_id, rows)
    return tuple(skill_of(rows[row["name"]]) for row in wanted)


def unregister(journal: Journal, agent_id: str, names: Sequence[str]) -> None:
    """Let the agent know these skills no longer. Raises UnknownAgent, UnknownSkills."""
    rows = skill_rows(journal.connection, agent_id)
    for row in wanted_rows(journal.connection, agent_id, names):
        journal.delete(SKILL, row, agent_id=agent_id)
        del rows[row["name"]]
    keep_blocks(journal, agent_id, rows)


def _written(journal: Journal, row: dict[str, Any], loaded_as: int | None) -> dict[str, Any]:
    after = {
        **row,
        "loaded_as": loaded_as,
        "revision": row["revision"] + 1,
        "updated_at": journal.at,
    }
    return journal.update(SKILL, row, after, agent_id=row["agent_id"]) or row
