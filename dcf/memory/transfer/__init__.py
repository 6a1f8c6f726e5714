"""Agents with all that is theirs, as they come into a memory from elsewhere and go out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.transfer.arrival import (
        Arrival,
        Arrivals,
        ArrivingMessage,
        OnNameTaken,
        take_in,
    )
    from dcf.memory.transfer.departure import Departure, give_out
else:
    export_late(__name__)

__all__ = [
    "Arrival",
    "Arrivals",
    "ArrivingMessage",
    "Departure",
    "OnNameTaken",
    "give_out",
    "take_in",
]
