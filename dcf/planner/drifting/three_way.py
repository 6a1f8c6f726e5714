"""Three versions of a JSON value become one: what two sides made of a common base.

No library does this for JSON with conflicts by name: ``three-merge`` and ``merge3`` merge lines of
text, ``jsonmerge`` and ``mergedeep`` two values, and that of ``nbdime`` is bound to notebooks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

Side = Literal["source", "workflow"]


class _Nothing:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


MISSING: Final = _Nothing("missing")
"""Instead of a value that is not there."""
UNKNOWN: Final = _Nothing("unknown")
"""Instead of a base that nobody knows: then two versions that differ are a conflict."""


@dataclass(frozen=True, slots=True)
class Merged:
    """``conflicts`` are the paths (``Retry.0.MaxAttempts``) at which both sides changed the base,
    each in another way; ``value`` then has what the preferred side says."""

    value: Any
    conflicts: tuple[str, ...] = ()


def merged(base: Any, mine: Any, theirs: Any, prefer: Side, path: str = "") -> Merged:
    """``mine`` and ``theirs`` with the changes that each of them made of ``base``: members of
    objects, and elements of lists of one length, by themselves; all else as a whole."""
    if _same(mine, theirs) or _same(base, theirs):
        return Merged(mine)
    if _same(base, mine):
        return Merged(theirs)
    if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
        known = base if isinstance(base, Mapping) else {}
        otherwise = UNKNOWN if base is UNKNOWN else MISSING
        return _members(known, mine, theirs, otherwise, prefer, path)
    if _are_lists(base, mine, theirs):
        parts = [
            merged(was, here, there, prefer, f"{path}.{at}" if path else str(at))
            for at, (was, here, there) in enumerate(zip(base, mine, theirs, strict=True))
        ]
        conflicts = tuple(one for part in parts for one in part.conflicts)
        return Merged([part.value for part in parts], conflicts)
    return Merged(theirs if prefer == "source" else mine, (path,))


def _members(
    base: Mapping[str, Any],
    mine: Mapping[str, Any],
    theirs: Mapping[str, Any],
    otherwise: Any,
    prefer: Side,
    path: str,
) -> Merged:
    value: dict[str, Any] = {}
    conflicts: list[str] = []
    for name in dict.fromkeys((*theirs, *mine)):
        here = f"{path}.{name}" if path else name
        was = base.get(name, otherwise)
        part = merged(was, mine.get(name, MISSING), theirs.get(name, MISSING), prefer, here)
        conflicts += part.conflicts
        if part.value is not MISSING:
            value[name] = part.value
    return Merged(value, tuple(conflicts))


def _are_lists(*values: Any) -> bool:
    return all(isinstance(one, list) for one in values) and len({len(one) for one in values}) == 1


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1 is not true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
