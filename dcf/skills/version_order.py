"""The order of versions (Semantic Versioning 2.0.0, section 11)."""

from __future__ import annotations

LONGEST_VERSION = 256
"""Characters of a version; npm takes no longer one either."""

VersionOrder = tuple[tuple[int, ...], bool, tuple[tuple[bool, int, str], ...]]


def version_order(version: str) -> VersionOrder:
    """A sort key for ``1.2.3`` or ``1.2.3-rc.1``: a pre-release comes before its release, numbers
    compare as numbers and come before words.

    Raises ValueError for what is no version, and where it is longer than ``LONGEST_VERSION``.
    """
    if len(version) > LONGEST_VERSION:
        raise ValueError(f"a version has at most {LONGEST_VERSION} characters")
    release, _, suffix = version.partition("-")
    numbers = tuple(int(part) for part in release.split("."))
    parts = tuple(_part(part) for part in suffix.split(".")) if suffix else ()
    return numbers, not suffix, parts


def _part(part: str) -> tuple[bool, int, str]:
    return (False, int(part), "") if part.isascii() and part.isdigit() else (True, 0, part)
