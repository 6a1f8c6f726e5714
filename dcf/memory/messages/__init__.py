"""The conversations of agents."""

from __future__ import annotations

from dcf.memory.messages.appending import append
from dcf.memory.messages.archiving import archive
from dcf.memory.messages.errors import UnknownMessage
from dcf.memory.messages.fields import message_of
from dcf.memory.messages.finding import Page, live_rows, message_rows
from dcf.memory.messages.messages import Messages
from dcf.memory.messages.pricing import Priced, priced

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
