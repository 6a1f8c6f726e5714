"""Lengths of time as people write them: ``30d``, ``12h``, and the setting ``DCF_RETENTION``."""

from __future__ import annotations

import re

from control_plane import RUN_OVER, RunStatus, run_lists

OVER = tuple(status for status in run_lists.STATUSES if status in RUN_OVER)
"""How a run can be over."""

_AGE = re.compile(r"(\d{1,6})([mhdw])", re.ASCII)
_UNITS_MS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}


def read_age(text: str) -> int | None:
    """The length of time in ms; None unless ``text`` is a whole number and
    m, h, d or w."""
    found = _AGE.fullmatch(text.strip())
    return None if found is None else int(found[1]) * _UNITS_MS[found[2]]


def read_retention(text: str) -> dict[RunStatus, int] | None:
    """How long runs are kept after their end (ms), as in ``succeeded=30d,failed=12w``, with ``all``
    for every status that is not named; a status that is missing is kept for ever. None for what
    cannot be understood."""
    given: dict[str, int] = {}
    for word in filter(None, (word.strip() for word in text.split(","))):
        status, _, length = word.partition("=")
        age_ms = read_age(length)
        if age_ms is None or status in given or status not in ("all", *OVER):
            return None
        given[status] = age_ms
    if text and not given:
        return None
    rest = given.get("all")
    ages = {status: given.get(status, rest) for status in OVER}
    return {status: age_ms for status, age_ms in ages.items() if age_ms is not None}
