"""Turns of conversations: what they used, and how they ended."""

from __future__ import annotations

from dcf.memory.turns.errors import TurnLost, TurnUnderWay
from dcf.memory.turns.turns import Turns

__all__ = ["TurnLost", "TurnUnderWay", "Turns"]
