"""Ids of what the memory keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias
from uuid import uuid4

NewId: TypeAlias = Callable[[str], str]
"""A new id of a kind: ``new_id("agent")`` gives ``agent-…``."""

Clock: TypeAlias = Callable[[], int]
"""Milliseconds since the epoch, UTC."""


def random_id(kind: str) -> str:
    """An id that nobody else makes."""
    return f"{kind}-{uuid4()}"
