"""Agents with all that is theirs, as they come into a memory from elsewhere and go out of it."""

from __future__ import annotations

from dcf.memory.transfer.arrival import (
    Arrival,
    Arrivals,
    ArrivingMessage,
    OnNameTaken,
    take_in,
)
from dcf.memory.transfer.departure import Departure, give_out

__all__ = [
    "Arrival",
    "Arrivals",
    "ArrivingMessage",
    "Departure",
    "OnNameTaken",
    "give_out",
    "take_in",
]
