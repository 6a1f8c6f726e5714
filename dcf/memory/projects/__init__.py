"""Projects: where agents work, and the blocks that all of them see there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.projects.changing import ensure_project, note_agent
    from dcf.memory.projects.entering import enter, leave
    from dcf.memory.projects.errors import (
        NotShareable,
        ProjectExists,
        ProjectHasLabel,
        UnknownProject,
        UnknownProjectBlock,
    )
    from dcf.memory.projects.fields import ProjectFields, plain_path
    from dcf.memory.projects.finding import known_row, project_row
    from dcf.memory.projects.projects import Projects
else:
    export_late(__name__)

__all__ = [
    "NotShareable",
    "ProjectExists",
    "ProjectFields",
    "ProjectHasLabel",
    "Projects",
    "UnknownProject",
    "UnknownProjectBlock",
    "ensure_project",
    "enter",
    "known_row",
    "leave",
    "note_agent",
    "plain_path",
    "project_row",
]
