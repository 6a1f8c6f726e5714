"""What a load or an unload came to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from dcf.problem import Problem

JSON = Any


@dataclass(frozen=True, slots=True)
class Loaded:
    """``already_loaded`` changed nothing. ``skills`` are those that came with this load, the one
    asked for and what it needs; the ids are what the record has now and had not before."""

    agent_id: str
    manifest_id: str
    status: Literal["loaded", "already_loaded", "replaced"]
    revision: int
    skills: tuple[str, ...] = ()
    memory_block_ids: tuple[str, ...] = ()
    tool_ids: tuple[str, ...] = ()
    data_block_ids: tuple[str, ...] = ()
    trusted: bool = True
    warnings: tuple[Problem, ...] = ()

    def to_json(self) -> dict[str, JSON]:
        """``{agent_id, manifest_id, status, revision, skills, added: {memory_block_ids, tool_ids,
        data_block_ids}, trusted, warnings}``."""
        return {
            "agent_id": self.agent_id,
            "manifest_id": self.manifest_id,
            "status": self.status,
            "revision": self.revision,
            "skills": list(self.skills),
            "added": {
                "memory_block_ids": list(self.memory_block_ids),
                "tool_ids": list(self.tool_ids),
                "data_block_ids": list(self.data_block_ids),
            },
            "trusted": self.trusted,
            "warnings": [problem.message for problem in self.warnings],
        }


@dataclass(frozen=True, slots=True)
class Unloaded:
    """``not_loaded`` changed nothing. ``still_needed``: nobody asks for the skill any more, but it
    stays until those that need it (``needed_by``) go. ``skills`` are those that went,
    ``kept_tool_ids`` the tools of theirs that others hold too."""

    agent_id: str
    manifest_id: str
    status: Literal["unloaded", "not_loaded", "still_needed"]
    revision: int
    skills: tuple[str, ...] = ()
    needed_by: tuple[str, ...] = ()
    removed_tool_ids: tuple[str, ...] = ()
    kept_tool_ids: tuple[str, ...] = ()
    removed_block_ids: tuple[str, ...] = ()

    def to_json(self) -> dict[str, JSON]:
        """Every field; tuples as lists."""
        fields = asdict(self).items()
        return {name: list(one) if isinstance(one, tuple) else one for name, one in fields}
