"""The skills that an agent knows, and their rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from dcf.memory.agents.finding import agent_row
from dcf.memory.audit.entity import Row
from dcf.memory.checking import json_of
from dcf.memory.database import Connection
from dcf.memory.entities import SKILL
from dcf.memory.skill import FoundSkill, Skill
from dcf.memory.skill_folders.errors import UnknownSkills

_DATA = ("config", "files")


def skill_of(row: Row) -> Skill:
    """The skill in a row."""
    known = {field.name: row[field.name] for field in fields(Skill) if field.name != "is_loaded"}
    return Skill(
        **{
            **known,
            "config": json.loads(row["config"]),
            "files": tuple(json.loads(row["files"])),
            "is_loaded": row["loaded_as"] is not None,
        }
    )


def columns_of(found: FoundSkill) -> dict[str, Any]:
    """The columns of a skill as it was found."""
    return {
        "description": found.description,
        "content": found.content,
        "config": json_of(dict(found.config)),
        "files": json_of(list(found.files)),
    }


def skill_rows(connection: Connection, agent_id: str) -> dict[str, dict[str, Any]]:
    """The rows of all skills that the agent knows, by name. Raises UnknownAgent."""
    agent_row(connection, agent_id)
    return {row["name"]: row for row in SKILL.of_owner(connection, agent_id)}


def wanted_rows(
    connection: Connection, agent_id: str, names: Sequence[str]
) -> list[dict[str, Any]]:
    """The rows of these skills. Raises UnknownAgent, and UnknownSkills with all that are not
    known."""
    rows = skill_rows(connection, agent_id)
    unknown = [name for name in dict.fromkeys(names) if name not in rows]
    if unknown:
        raise UnknownSkills(agent_id, unknown, sorted(rows))
    return [rows[name] for name in dict.fromkeys(names)]


def loaded_in_order(rows: Mapping[str, Row]) -> list[Row]:
    """Those that are loaded, the one loaded first in front."""
    loaded = [row for row in rows.values() if row["loaded_as"] is not None]
    return sorted(loaded, key=lambda row: (row["loaded_as"], row["name"]))
