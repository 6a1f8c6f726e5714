"""Numbers in sentences."""

from __future__ import annotations


def counted(count: int, one: str, many: str) -> str:
    """``1 worker reads``, ``2 workers read``."""
    return f"{count} {one if count == 1 else many}"
