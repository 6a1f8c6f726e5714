"""Skills that agents know from folders."""

from __future__ import annotations

from dcf.memory.skill_folders.errors import SkillsTooLarge, UnknownSkills
from dcf.memory.skill_folders.skill_folders import SkillFolders

__all__ = ["SkillFolders", "SkillsTooLarge", "UnknownSkills"]
