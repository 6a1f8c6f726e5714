"""An observation as one line of JSON: what ``dcf memory observations export`` writes and ``import``
reads.

The form is that of version 1, described in docs/how-to/observations.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from dcf.memory.checking import MOMENTS
from dcf.memory.errors import InvalidEntry
from dcf.memory.observation import (
    ArrivingObservation,
    Artifact,
    Concept,
    NewObservation,
    ObservationRecord,
    ObservationType,
    Occurrence,
    Origin,
)
from dcf.problem import Problem

VERSION = 1
"""Raised when a reader of the version before would misread a line."""
MARK = "dcf_observation"
"""The first field of a line, with the version."""

# JSON leaves them as they are; some programs end a line at them, and some terminals obey them.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029]")


def line_of(record: ObservationRecord) -> str:
    """The line, without its end: all that is known of an observation but what this memory alone
    knows (the revision, when it was written, for which agent)."""
    one = record.observation
    fields = {
        MARK: VERSION,
        "id": one.id,
        "type": one.type,
        "title": one.title,
        "subtitle": one.subtitle,
        "facts": one.facts,
        "narrative": one.narrative,
        "concepts": one.concepts,
        "artifacts": [_filled(asdict(artifact)) for artifact in one.artifacts],
        "related": one.related,
        "project": one.project,
        "workflow": one.workflow,
        "origin": _filled(asdict(one.origin)),
        "at": one.at,
        "times": one.times,
        "tokens": one.tokens,
        "pinned": one.pinned,
        "extracted": one.extracted,
        "seen": [_time_seen(it) for it in record.seen],
    }
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _time_seen(one: Occurrence) -> dict[str, Any]:
    return {**_filled(asdict(one.origin)), "note": one.note, "at": one.at}


def _filled(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def read_line(line: bytes) -> tuple[ArrivingObservation, tuple[str, ...]]:
    """The observation in a line, and the names of its fields that nobody knows. Raises InvalidEntry
    with all that is wrong with its form; what may be kept is judged where it is kept."""
    value = _value_of(line)
    form = _Form(value)
    origin, at = form.origin("/origin", form.object("/origin")), form.moment("/at")
    seen = tuple(_seen(form, f"/seen/{number}") for number in range(form.length("/seen")))
    new = NewObservation(
        cast(ObservationType, form.text("/type", needed=True)),
        form.text("/title", needed=True),
        origin,
        project=form.text("/project"),
        workflow=form.text("/workflow"),
        subtitle=form.text("/subtitle"),
        facts=form.texts("/facts"),
        narrative=form.text("/narrative"),
        concepts=cast(tuple[Concept, ...], form.texts("/concepts")),
        artifacts=tuple(
            _artifact(form, f"/artifacts/{number}") for number in range(form.length("/artifacts"))
        ),
        related=form.texts("/related"),
        at=at,
        extracted=form.flag("/extracted"),
    )
    read = ArrivingObservation(new, seen, form.text("/id"), form.flag("/pinned"))
    if form.problems:
        raise InvalidEntry("the line", tuple(form.problems))
    return read, tuple(name for name in value if name not in _FIELDS)


_FIELDS = {MARK, "id", "type", "title", "subtitle", "facts", "narrative", "concepts", "artifacts"}
_FIELDS |= {"related", "project", "workflow", "origin", "at", "times", "tokens", "seen"}
_FIELDS |= {"pinned", "extracted"}


def _value_of(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        hint = "a file that was cut ends in the middle of a line; export it again"
        problem = Problem("memory_observation_json", f"it is no JSON: {error}", "", hint)
        raise InvalidEntry("the line", (problem,)) from error
    if not isinstance(value, dict) or value.get(MARK) != VERSION:
        found = repr(value.get(MARK)) if isinstance(value, dict) else type(value).__name__
        message = f"it is no observation of version {VERSION}: {MARK} is {found}"
        hint = f'each line is an object that begins with {{"{MARK}": {VERSION}'
        raise InvalidEntry("the line", (Problem("memory_observation_form", message, "", hint),))
    return value


def _seen(form: _Form, place: str) -> Occurrence:
    return Occurrence(
        form.origin(place, form.object(place)),
        form.text(f"{place}/note"),
        form.moment(f"{place}/at"),
    )


def _artifact(form: _Form, place: str) -> Artifact:
    form.object(place)
    return Artifact(
        cast(Any, form.text(f"{place}/type", needed=True)),
        form.text(f"{place}/path", needed=True),
        cast(Any, form.text(f"{place}/action") or None),
    )


@dataclass(slots=True)
class _Form:
    """The fields of a line by their places. What is wrong is noted, and something that stands in
    its place is given."""

    value: Mapping[str, Any]
    problems: list[Problem] = field(default_factory=list)

    def text(self, place: str, *, needed: bool = False) -> str:
        default = None if needed else ""
        right = self._demand(place, default, lambda it: isinstance(it, str), "a text", "")
        return cast(str, right)

    def texts(self, place: str) -> tuple[str, ...]:
        count = self.length(place)
        return tuple(self.text(f"{place}/{number}", needed=True) for number in range(count))

    def object(self, place: str) -> Mapping[str, Any]:
        right = self._demand(place, None, lambda it: isinstance(it, dict), "an object", {})
        return cast(Mapping[str, Any], right)

    def length(self, place: str) -> int:
        return len(self._demand(place, [], lambda it: isinstance(it, list), "a list", []))

    def flag(self, place: str) -> bool:
        right = self._demand(place, False, lambda it: isinstance(it, bool), "true or false", False)
        return cast(bool, right)

    def moment(self, place: str) -> int:
        what = "a time in ms since the epoch, up to 9999-12-30"
        return cast(int, self._demand(place, None, _is_whole, what, 0))

    def origin(self, place: str, there: Mapping[str, Any]) -> Origin:
        turn, state = there.get("turn"), there.get("state")
        return Origin(
            self.text(f"{place}/source_type", needed=True),
            self.text(f"{place}/source_id", needed=True),
            None if turn is None else self._demand(f"{place}/turn", 0, _is_whole, "a number", 0),
            None if state is None else self.text(f"{place}/state"),
        )

    def _demand(
        self, place: str, default: Any, right: Callable[[Any], bool], what: str, instead: Any
    ) -> Any:
        there: Any = self.value
        for part in place.strip("/").split("/"):
            if isinstance(there, list) and part.isdecimal():
                there = there[int(part)]
            else:
                there = there.get(part) if isinstance(there, dict) else None
        there = default if there is None else there
        if right(there):
            return there
        found = "nothing" if there is None else f"{there!r:.80}"
        message = f"{place} is {found}, not {what}"
        self.problems.append(Problem("memory_observation_form", message, place))
        return instead


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOMENTS.stop
