"""One change of a session by its conductor: what it reads, and what it has done so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dcf.secret_form import without_secrets
from dcf.sessions.companion import Companion
from dcf.sessions.conductor.book import Book
from dcf.sessions.conductor.fired import Fired
from dcf.sessions.conductor.hinting import Hints
from dcf.sessions.conductor.request import Item, Question, Request, Topic
from dcf.sessions.conductor.rules import ConductorRules
from dcf.sessions.conductor.trace import Trace
from dcf.sessions.draft import Draft
from dcf.sessions.task import SessionTask

TEXT_KEPT = 16_000
"""Characters of what was said that stand in the history."""
_CUT = " […]"


@dataclass(slots=True)
class Work:
    """``by`` is the conductor. ``documents`` are those of the workflows that may be delegated, or
    why there is none; ``paged`` closed tasks that were moved out of the draft; ``traces`` what is
    known of tasks that are over, ``waits`` what holds up open ones, in words. Whoever does
    something adds to ``fired``, and to ``news`` what is to be told of a request."""

    draft: Draft
    by: str
    rules: ConductorRules
    hints: Hints
    documents: Mapping[str, Mapping[str, Any] | str]
    paged: Mapping[str, SessionTask] = field(default_factory=dict)
    traces: Mapping[str, Trace] = field(default_factory=dict)
    waits: Mapping[str, str] = field(default_factory=dict)
    fired: list[Fired] = field(default_factory=list)
    news: dict[str, list[Item]] = field(default_factory=dict)
    delegated: list[str] = field(default_factory=list)
    book: Book = field(init=False)

    def __post_init__(self) -> None:
        self.book = Book(self.draft.requests)

    @property
    def takes(self) -> bool:
        """Whether the session takes something new."""
        return self.draft.head.state in ("active", "paused")

    @property
    def pool(self) -> list[Companion]:
        """The companions that can work."""
        return [one for one in self.draft.companions.values() if one.status in ("idle", "busy")]

    @property
    def staff(self) -> list[Companion]:
        """The pool, and those that are served from outside and are away: they come back."""
        away = [
            one for one in self.draft.companions.values() if one.external and one.status == "lost"
        ]
        return [*self.pool, *away]

    def task(self, task_id: str | None) -> SessionTask | None:
        """A task of the session, open or closed; None when nobody knows it any more."""
        return self.draft.tasks.get(task_id or "") or self.paged.get(task_id or "")

    def fire(self, fired: Fired, item: Item | None = None) -> None:
        """Say that a rule decided something, about an item."""
        fired = fired if item is None else replace(fired, task=item.number)
        self.fired.append(fired)
        self.draft.tell("RuleFired", **fired.to_json())

    def tell(self, request: Request, item: Item) -> Item:
        """Write an item, of which something is to be told."""
        told = self.news.setdefault(request.request_id, [])
        told[:] = [one for one in told if one.number != item.number]
        told.append(item)
        return self.book.write(request, item)

    def ask(self, request: Request, item: Item, topic: Topic, text: str) -> Item:
        """The item waits for an answer."""
        self.draft.tell(
            "Asked", request=request.request_id, task=item.number, topic=topic, text=shown(text)
        )
        return self.tell(request, replace(item, status="asked", question=Question(topic, text)))

    def say(self, role: str, text: str, request: str | None = None) -> None:
        """Something was said in the session."""
        self.draft.tell("Said", role=role, text=shown(text), request=request or None)

    def save(self) -> None:
        """Write what it did into the draft, if it did anything."""
        kept = self.book.to_json()
        if kept != Book({}).to_json() or self.draft.requests:
            self.draft.requests = kept


def shown(text: str) -> str:
    """A text as it stands in the history: without secrets, and not endless."""
    text = without_secrets(text, "[redacted]")
    return text if len(text) <= TEXT_KEPT else text[: TEXT_KEPT - len(_CUT)] + _CUT
