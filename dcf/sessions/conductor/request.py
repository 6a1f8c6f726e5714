"""What a user asked for, as the session's record has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from control_plane import JSON, payload
from dcf.sessions.plain import plain, read_into

ItemStatus = Literal["held", "open", "asked", "succeeded", "partial", "failed", "cancelled"]
"""``held``: it waits for another item that is asked about or held; ``open``: it is a task;
``asked``: it waits for an answer."""

OVER: frozenset[ItemStatus] = frozenset({"succeeded", "partial", "failed", "cancelled"})
WELL: frozenset[ItemStatus] = frozenset({"succeeded", "partial"})

Topic = Literal["failed", "skill", "input", "companion", "after", "order"]
"""What a question is about: a failed task, a skill that was not found, an input of which there are
several, a companion that there is not, a task to follow that there is not, or an order that cannot
be given as it is."""


@dataclass(frozen=True, slots=True)
class Question:
    """What the user is asked about an item."""

    topic: Topic
    text: str


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that was asked for, and what became of it. ``number`` is what the user calls it;
    ``after`` are numbers of others. ``whom`` is who was asked for, with @ where it is a name.
    ``any_skill``: it goes out without a skill. ``task_id`` is its task at the moment or the last
    one, ``given`` how often it was delegated, ``spent`` how often since the user last decided, and
    ``errors`` the codes with which it failed since. ``data`` is the
    beginning of what it put out, in words. The last members are as with its task."""

    number: int
    position: int
    text: str
    status: ItemStatus = "held"
    after: tuple[int, ...] = ()
    inputs: dict[str, JSON] = field(default_factory=dict)
    whom: str | None = None
    priority: str | None = None
    timeout_s: float | None = None
    tier: int | None = None
    task_type: str | None = None
    specialization: str | None = None
    skills: tuple[str, ...] = ()
    any_skill: bool = False
    workflow: str | None = None
    pins: dict[str, str] | None = None
    question: Question | None = None
    task_id: str | None = None
    given: int = 0
    spent: int = 0
    errors: tuple[str, ...] = ()
    companion_id: str | None = None
    result: str | None = None
    data: str | None = None
    seconds: float | None = None
    reference: str | None = None
    not_companion: str | None = None

    @property
    def is_over(self) -> bool:
        return self.status in OVER

    @property
    def kind(self) -> Literal["companion", "workflow"]:
        return "companion" if self.workflow is None else "workflow"

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Item:
        question = raw.get("question")
        lists = {name: tuple(raw.get(name, ())) for name in ("after", "skills", "errors")}
        asked = None if question is None else read_into(Question, question)()
        return read_into(cls, raw)(question=asked, **lists)


@dataclass(frozen=True, slots=True)
class Request:
    """``reply`` is what was answered at once and ``answer`` the last word on it (both
    ``Reply.to_json``); it is open while there is none. ``at`` is ms."""

    request_id: str
    at: int
    stem: str
    items: tuple[Item, ...] = ()
    reply: dict[str, Any] | None = None
    answer: dict[str, Any] | None = None

    @property
    def is_open(self) -> bool:
        return self.answer is None

    def to_json(self) -> dict[str, Any]:
        return {**plain(self), "items": [plain(item) for item in self.items]}

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Request:
        items = tuple(Item.parse(one) for one in raw.get("items", ()))
        return replace(read_into(cls, raw)(), items=items)


def stem_of(session_id: str, request_id: str) -> str:
    """What the ids of its tasks begin with: no other request of any session has it."""
    return f"{request_id[:24]}-{payload.digest(f'{session_id}/{request_id}')[-8:]}"
