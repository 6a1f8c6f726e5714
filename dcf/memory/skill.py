"""A skill that an agent knows from a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dcf.problem import Problem

SKILLS = "skills"
LOADED_SKILLS = "loaded_skills"
"""Labels of the blocks with the catalog of skills and with the instructions of loaded ones."""


@dataclass(frozen=True, slots=True)
class FoundSkill:
    """A skill as it lies in ``<folder>/<name>``. ``content`` are its instructions, ``config`` what
    its config.json says, ``files`` the names of what lies beside SKILL.md, with slashes. Nothing in
    the folder is run."""

    name: str
    description: str
    content: str
    config: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill that an agent knows. ``source`` is the folder of skills in which it was found;
    ``is_loaded``: its instructions stand in the block ``loaded_skills``."""

    agent_id: str
    name: str
    description: str
    content: str
    config: Mapping[str, Any]
    files: tuple[str, ...]
    source: str
    is_loaded: bool
    revision: int
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a folder of skills has: the good ones by name, and the ``problems`` of all, each with
    its file and, where there is one, its line. ``present`` are the names of all folders in it, of
    good and bad skills. ``is_there`` is False if the folder itself cannot be read."""

    folder: str
    skills: tuple[FoundSkill, ...]
    problems: tuple[Problem, ...]
    present: frozenset[str]
    is_there: bool = True


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a synchronisation changed, by name: skills that are new, changed, gone (``unloaded`` are
    those of them that were loaded). ``problems`` are those of the folder and of the blocks' limits;
    a skill that has an error stays as it was known before."""

    agent_id: str
    folder: str
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    unloaded: tuple[str, ...]
    problems: tuple[Problem, ...]

    @property
    def is_unchanged(self) -> bool:
        """Whether everything was so already."""
        return not (self.added or self.changed or self.removed)
