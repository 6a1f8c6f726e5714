"""What a lock file has to look like before anything is believed of it."""

from __future__ import annotations

from typing import Any

_VERSION = 2
_OBJECTS = ("artefacts", "skills", "tools")


def lock_fault(lock: Any) -> str:
    """Why ``lock``, the JSON of a ``skills.lock``, is none; empty when it is one. Some other
    document in its place would pin nothing, and must not pass for a lock without pins."""
    if not isinstance(lock, dict):
        return "it is no object"
    if lock.get("unfinished") is True:
        return "generating is under way, or was broken off"
    if lock.get("lockVersion") != _VERSION:
        return f"its lockVersion is not {_VERSION}"
    for name in _OBJECTS:
        if not isinstance(lock.get(name), dict):
            return f"it has no object {name!r}"
    return ""
