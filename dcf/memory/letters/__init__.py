"""Inboxes: messages that were left for agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.letters.delivery import end_letter
    from dcf.memory.letters.errors import CircularMessage, LetterLost, UnknownLetter
    from dcf.memory.letters.letters import Letters
else:
    export_late(__name__)

__all__ = ["CircularMessage", "LetterLost", "Letters", "UnknownLetter", "end_letter"]
