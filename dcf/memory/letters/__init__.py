"""Inboxes: messages that were left for agents."""

from __future__ import annotations

from dcf.memory.letters.delivery import end_letter
from dcf.memory.letters.errors import CircularMessage, LetterLost, UnknownLetter
from dcf.memory.letters.letters import Letters

__all__ = ["CircularMessage", "LetterLost", "Letters", "UnknownLetter", "end_letter"]
