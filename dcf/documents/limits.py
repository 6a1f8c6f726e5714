"""How much a document may take."""

from __future__ import annotations

from dataclasses import dataclass

LARGEST = 64 * 1024 * 1024
"""Bytes of a file."""


@dataclass(frozen=True, slots=True)
class Limits:
    """``seconds`` of processor time for one document, ``megabytes`` of memory of the process that
    reads it, its program included, and ``characters`` of text and ``pieces`` that come of it."""

    seconds: float = 30.0
    megabytes: int = 1_024
    characters: int = 16_000_000
    pieces: int = 100_000
