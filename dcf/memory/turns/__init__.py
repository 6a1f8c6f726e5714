"""Turns of conversations: what they used, and how they ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.turns.calls import AnsweredCall, OwnTurn
    from dcf.memory.turns.errors import TurnFenced, TurnLost, TurnUnderWay
    from dcf.memory.turns.turns import Turns
else:
    export_late(__name__)

__all__ = ["AnsweredCall", "OwnTurn", "TurnFenced", "TurnLost", "TurnUnderWay", "Turns"]
