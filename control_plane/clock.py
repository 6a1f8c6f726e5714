"""Time and randomness as arguments, so that a simulation can supply its own."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable

Clock = Callable[[], float]
"""Seconds since the epoch."""

NewToken = Callable[[], str]
"""An unguessable 128-bit token as 32 hexadecimal digits."""


def wall_clock() -> float:
    """Seconds since the epoch, of this machine. Never decides about a lease: Redis's clock does."""
    return time.time()


def new_token() -> str:
    """A fresh unguessable token."""
    return secrets.token_hex(16)
