"""What a conductor answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dcf.sessions.conductor.fired import Fired
from dcf.sessions.plain import read_into


@dataclass(frozen=True, slots=True)
class Row:
    """One task as people see it. ``number`` is what they call it; ``status`` is that of the task,
    or ``held`` while it waits for an answer or for another task, ``cancelled`` when it is not to be
    done. ``result`` is its summary or error, ``data`` the beginning of what it put out, in words,
    all of which stands at ``reference``; ``seconds`` is how long it was worked on, ``why`` says why
    it is not done yet, ``skills`` are those that it has."""

    number: int | None
    task_id: str | None
    description: str
    status: str
    companion_id: str | None = None
    result: str | None = None
    seconds: float | None = None
    tries: int = 1
    kind: str = "companion"
    reference: str | None = None
    data: str | None = None
    why: str | None = None
    skills: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {**{name: getattr(self, name) for name in self.__slots__}, "skills": [*self.skills]}

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Row:
        return read_into(cls, raw)(skills=tuple(raw.get("skills", ())))


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to ``request`` ("" for one that answers none). ``text`` is Markdown; ``rows`` are
    the tasks it speaks of, ``task_ids`` those that were delegated, ``questions`` what the user is
    asked. ``is_last``: nothing more will be said about the request."""

    request: str
    text: str
    task_ids: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    questions: tuple[str, ...] = ()
    fired: tuple[Fired, ...] = ()
    is_last: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "request": self.request,
            "text": self.text,
            "task_ids": list(self.task_ids),
            "rows": [row.to_json() for row in self.rows],
            "questions": list(self.questions),
            "fired": [one.to_json() for one in self.fired],
            "is_last": self.is_last,
        }

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Reply:
        """What ``to_json`` gave."""
        return cls(
            request=raw["request"],
            text=raw["text"],
            task_ids=tuple(raw.get("task_ids", ())),
            rows=tuple(Row.parse(row) for row in raw.get("rows", ())),
            questions=tuple(raw.get("questions", ())),
            fired=tuple(Fired.parse(one) for one in raw.get("fired", ())),
            is_last=raw.get("is_last", False),
        )
