"""Randomness that repeats: every draw is a hash of what it is drawn for."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chance:
    """The draws of one call.

    ``seed`` is the case's, else the run's; ``occasion`` is the call's idempotency key when it has
    one, else the number of the call among those that met the same case. The same call thus draws
    the same values in every process and on every machine.
    """

    seed: int
    server_id: str
    tool_name: str
    case_id: str
    occasion: str | int

    def share(self, purpose: str) -> float:
        """A number from 0 up to, not including, 1."""
        return (self._bits(purpose) >> 75) / (1 << 53)

    def integer(self, low: int, high: int, purpose: str) -> int:
        """A whole number between the two, both included, whichever is larger."""
        low, high = min(low, high), max(low, high)
        return low + self._bits(purpose) % (high - low + 1)

    def uuid(self, purpose: str) -> str:
        """A UUID of version 4 in form."""
        return str(uuid.UUID(int=self._bits(purpose), version=4))

    def _bits(self, purpose: str) -> int:
        """128 bits."""
        parts = [self.seed, self.server_id, self.tool_name, self.case_id, self.occasion, purpose]
        return int.from_bytes(hashlib.sha256(json.dumps(parts).encode()).digest()[:16])
