"""How long runs are kept after their end: the setting ``DCF_RETENTION``."""

from __future__ import annotations

from collections.abc import Container, Sequence
from difflib import get_close_matches

from control_plane import RUN_OVER, RunStatus, run_lists
from dcf.age_form import read_age

OVER = tuple(status for status in run_lists.STATUSES if status in RUN_OVER)
"""How a run can be over."""


class BadRetention(ValueError):
    """``faults`` are all that is wrong with how long runs are to be kept."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)


def read_retention(text: str) -> dict[RunStatus, int]:
    """How long runs are kept after their end (ms), as in ``succeeded=30d,failed=12w``, with ``all``
    for every status that is not named; a status that is missing is kept for ever. Raises
    BadRetention."""
    given: dict[str, int] = {}
    faults: list[str] = []
    for word in filter(None, (word.strip() for word in text.split(","))):
        status, _, length = (part.strip() for part in word.partition("="))
        age_ms = read_age(length)
        fault = _fault(word, status, length, age_ms, given)
        faults += [fault] if fault else []
        given.setdefault(status, age_ms or 0)
    if text and not given:
        faults.append(f"{text!r} names no status")
    if faults:
        raise BadRetention(faults)
    rest = given.get("all")
    ages = {status: given.get(status, rest) for status in OVER}
    return {status: age_ms for status, age_ms in ages.items() if age_ms is not None}


def _fault(word: str, status: str, length: str, age_ms: int | None, given: Container[str]) -> str:
    """What is wrong with ``word``, after those that are ``given``; "" where nothing is."""
    if "=" not in word:
        return f"{word!r} does not say STATUS=TIME"
    found = []
    if status not in ("all", *OVER):
        near = get_close_matches(status, ("all", *OVER), 1)
        meant = f", did you mean {near[0]}?" if near else ""
        found.append(f"{status!r} is not a status of a finished run{meant}")
    if status in given:
        found.append(f"{status} is there twice")
    if age_ms is None:
        found.append(f"{length!r} is not a length of time")
    return f"{word!r}: {'; '.join(found)}" if found else ""
