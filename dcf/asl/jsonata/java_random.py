"""The generator of ``java.util.Random``: Step Functions draws seeded numbers with it."""

from __future__ import annotations

_MULTIPLIER = 0x5DEECE66D
_INCREMENT = 0xB
_MASK = (1 << 48) - 1


class JavaRandom:
    """A linear congruential generator of 48 bits, so that a seed gives the numbers AWS gives."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def random(self) -> float:
        """From 0 up to, not including, 1, with 53 random bits."""
        return ((self._bits(26) << 27) + self._bits(27)) / (1 << 53)

    def _bits(self, count: int) -> int:
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return self._state >> (48 - count)
