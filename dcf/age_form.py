"""Lengths of time as people write them: ``30d``, ``12h``."""

from __future__ import annotations

import re

_AGE = re.compile(r"(\d{1,6})([mhdw])", re.ASCII)
_UNITS_MS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}


def read_age(text: str) -> int | None:
    """The length of time in ms; None unless ``text`` is a whole number and
    m, h, d or w."""
    found = _AGE.fullmatch(text.strip())
    return None if found is None else int(found[1]) * _UNITS_MS[found[2]]
