"""Agent Skills (SKILL.md folders, agentskills.io): written from manifests, read into sources.

Scripts in such folders are texts here: nothing runs them. ``allowed-tools`` is kept as the hint
that it is; what a skill may call stands in its manifest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.skills.agent_skills.beside import files_beside
    from dcf.skills.agent_skills.export import export_skill
    from dcf.skills.agent_skills.folder import (
        MANIFEST,
        MOST_BYTES,
        MOST_FILES,
        SKILL_MD,
        SkillFolder,
        is_safe_path,
        read_folder,
        write_folder,
    )
    from dcf.skills.agent_skills.import_skill import ImportedSkill, import_skill
    from dcf.skills.agent_skills.naming import folder_name
    from dcf.skills.agent_skills.reading import ReadSkill, read_skill
    from dcf.skills.agent_skills.skill_text import SkillText, read_skill_text
    from dcf.skills.agent_skills.tool_files import authored_tools, refs_of
else:
    export_late(__name__)

__all__ = [
    "MANIFEST",
    "MOST_BYTES",
    "MOST_FILES",
    "SKILL_MD",
    "ImportedSkill",
    "ReadSkill",
    "SkillFolder",
    "SkillText",
    "authored_tools",
    "export_skill",
    "files_beside",
    "folder_name",
    "import_skill",
    "is_safe_path",
    "read_folder",
    "read_skill",
    "read_skill_text",
    "refs_of",
    "write_folder",
]
