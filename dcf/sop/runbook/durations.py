"""How long a sentence says to wait, within what time, and how often to try again."""

from __future__ import annotations

import re

from dcf.sop.language.duration import read_duration
from dcf.sop.language.phrase import Unreadable, count_of, masked
from dcf.sop.runbook.wording import core

_DUR = (
    r"(?:[0-9]+(?:\.[0-9]+)?|an?|half an|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|[0-9]+\s*-\s*[0-9]+)"
    r"[\s-]*(?:seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|weeks?)"
)
_WAIT = re.compile(
    rf"(?:please )?(?:wait|pause|sleep|allow|hold(?: on)?)(?: for)?"
    rf"(?: (?:about|at least|approximately|around|roughly|another|an additional|a minimum "
    rf"of))?\s+(?P<time>{_DUR})\b",
    re.IGNORECASE,
)
_WITHIN = re.compile(
    rf"\b(?:within|in under|in less than)(?: the (?:next|first))?\s+(?P<time>{_DUR})\b",
    re.IGNORECASE,
)
_TIMES = re.compile(
    r"\btwice\b|\b(?:up to|at most|a maximum of|no more than|another)? ?"
    r"(?P<count>[0-9]{1,2}|two|three|four"
    r"|five|six|ten)(?: more)? times\b",
    re.IGNORECASE,
)
_TRIES = re.compile(
    r"(?:^|[,;]\s+|\b(?:and|then)\s+)(?:retry|repeat|try|re-?run|redo|attempt)\b", re.IGNORECASE
)


def read_wait(text: str) -> int | None:
    """Seconds of ``Wait 5 minutes``."""
    found = _WAIT.match(core(text))
    return _seconds(found["time"]) if found else None


def read_deadline(text: str) -> int | None:
    """Seconds of ``within 5 minutes``."""
    found = _WITHIN.search(masked(text))
    return _seconds(found["time"]) if found else None


def _seconds(text: str) -> int | None:
    text = re.sub(r"^[0-9]+\s*-\s*(?=[0-9])", "", text)
    try:
        return read_duration(text)
    except Unreadable:
        return None


def read_times(text: str) -> int | None:
    """How often ``Retry up to 3 times`` is tried again."""
    found = _TIMES.search(text) if _TRIES.search(core(text)) else None
    count = count_of((found["count"] or "two").lower()) if found else None
    return int(count) if count else None
