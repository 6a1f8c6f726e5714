"""Sessions in the memory of the agents that work in them: rendered from documents into blocks.

The functions named after blocks are pure: a session in, the text of the block out. ``show_session``
and its like write them. What a block has no room for is counted in its member ``left_out``, which
says where it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.sessions.rendering.board import put
    from dcf.sessions.rendering.context import earlier_observations, session_context
    from dcf.sessions.rendering.fitting import Part, Room, fitted
    from dcf.sessions.rendering.guidelines import strategist_guidelines
    from dcf.sessions.rendering.log import delegation, delegation_log
    from dcf.sessions.rendering.rendered import Rendered, Stamp
    from dcf.sessions.rendering.showing import (
        show_guidelines,
        show_observed,
        show_session,
        show_task,
    )
    from dcf.sessions.rendering.task import task_context
else:
    export_late(__name__)

__all__ = [
    "Part",
    "Rendered",
    "Room",
    "Stamp",
    "delegation",
    "delegation_log",
    "earlier_observations",
    "fitted",
    "put",
    "session_context",
    "show_guidelines",
    "show_observed",
    "show_session",
    "show_task",
    "strategist_guidelines",
    "task_context",
]
