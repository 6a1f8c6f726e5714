"""Skills that agents know from folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.skill_folders.errors import SkillsTooLarge, UnknownSkills
    from dcf.memory.skill_folders.skill_folders import SkillFolders
else:
    export_late(__name__)

__all__ = ["SkillFolders", "SkillsTooLarge", "UnknownSkills"]
