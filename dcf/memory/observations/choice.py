"""Which observations, as somebody says it: a command line, a client of MCP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from difflib import get_close_matches
from typing import TypeVar

from dcf.memory.observation import CONCEPTS, TYPES
from dcf.memory.observations.errors import BadChoice
from dcf.memory.observations.finding import Filter
from dcf.memory.search.time_span import TIME_EXAMPLES, TimeSpan, span_of
from dcf.problem import Problem

_DAY_MS = 86_400_000
_Word = TypeVar("_Word", bound=str)


@dataclass(frozen=True, slots=True)
class ObservationChoice:
    """Which observations: empty is all of them. ``since`` and ``until`` are times as ``span_of``
    takes them; without ``since`` the last ``days`` count (None: all days)."""

    types: Sequence[str] = ()
    concepts: Sequence[str] = ()
    sources: Sequence[str] = ()
    source_ids: Sequence[str] = ()
    turn: int | None = None
    since: str | None = None
    until: str | None = None
    days: int | None = 90
    projects: Sequence[str] = ()
    workflows: Sequence[str] = ()
    topic: str | None = None
    pinned: bool | None = None

    def filter(self, now: int, zone: tzinfo | None = None) -> Filter:
        """The same for the memory, said at ``now`` (ms) in ``zone`` (None: that of this machine).
        Raises BadChoice with all that is wrong."""
        problems: list[Problem] = []
        types = _known("type", "types", self.types, TYPES, problems)
        concepts = _known("concept", "concepts", self.concepts, CONCEPTS, problems)
        since = _time("since", self.since, now, zone, problems)
        until = _time("until", self.until, now, zone, problems)
        if problems:
            raise BadChoice("the choice of observations", problems)
        of_days = None if self.days is None else now - self.days * _DAY_MS
        return Filter(
            projects=self.projects,
            workflows=self.workflows,
            types=types,
            concepts=concepts,
            source_types=self.sources,
            source_ids=self.source_ids,
            turn=self.turn,
            since=of_days if since is None else since.first,
            until=None if until is None else until.last,
            topic=self.topic,
            pinned=self.pinned,
        )


def _known(
    word: str,
    field: str,
    given: Sequence[str],
    known: Sequence[_Word],
    problems: list[Problem],
) -> list[_Word]:
    for one in given:
        if one not in known:
            close = get_close_matches(one, known, n=1)
            meant = f"did you mean {close[0]}? " if close else ""
            hint = f"{meant}one of {', '.join(known)}"
            message = f"there is no {word} {one!r}"
            problems.append(Problem("memory_choice_word", message, f"/{field}", hint=hint))
    return [one for one in known if one in given]


def _time(
    field: str, given: str | None, now: int, zone: tzinfo | None, problems: list[Problem]
) -> TimeSpan | None:
    if given is None:
        return None
    span = span_of(given, now, zone)
    if span is None:
        message = f"{given!r} is no time"
        hint = f"as in {TIME_EXAMPLES}"
        problems.append(Problem("memory_choice_time", message, f"/{field}", hint=hint))
    return span
