"""A conductor without a model: what it does is said by rules, which are data.

It keeps nothing of its own. What was asked, what it delegated for that and what it answered stands
in the session's record, so that whoever goes on, in whatever process, does nothing twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.sessions.conductor.book import Book
    from dcf.sessions.conductor.conductor import Conductor
    from dcf.sessions.conductor.discovering import Discover
    from dcf.sessions.conductor.errors import BadRequest, InvalidConductorRules
    from dcf.sessions.conductor.fired import Fired
    from dcf.sessions.conductor.preparing import Workflows
    from dcf.sessions.conductor.reply import Reply, Row
    from dcf.sessions.conductor.rules import ConductorRules
    from dcf.sessions.conductor.telling import row_of_task
    from dcf.sessions.conductor.work import shown
else:
    export_late(__name__)

__all__ = [
    "BadRequest",
    "Book",
    "Conductor",
    "ConductorRules",
    "Discover",
    "Fired",
    "InvalidConductorRules",
    "Reply",
    "Row",
    "Workflows",
    "row_of_task",
    "shown",
]
