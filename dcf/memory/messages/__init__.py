"""The conversations of agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.messages.appending import append
    from dcf.memory.messages.archiving import archive
    from dcf.memory.messages.errors import UnknownMessage
    from dcf.memory.messages.fields import message_of
    from dcf.memory.messages.finding import Page, live_rows, message_rows
    from dcf.memory.messages.messages import Messages
    from dcf.memory.messages.pricing import Priced, priced
else:
    export_late(__name__)

__all__ = [
    "Messages",
    "Page",
    "Priced",
    "UnknownMessage",
    "append",
    "archive",
    "live_rows",
    "message_of",
    "message_rows",
    "priced",
]
