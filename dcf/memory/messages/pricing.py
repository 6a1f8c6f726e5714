"""What new messages cost in a context. Counted before the transaction that adds them: the tokens of
a text of a megabyte take seconds, in which nobody could write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dcf.memory.audit.clean_text import clean
from dcf.memory.checking import json_of, refuse
from dcf.memory.message import NewMessage, heading_of
from dcf.memory.messages.fields import problems
from dcf.problem import Problem
from dcf.search import count_tokens

OVERHEAD = 4
"""Tokens that a model's form of a message takes beside its text: who speaks, where it ends."""


@dataclass(frozen=True, slots=True)
class Priced:
    """A new message that may be kept, with the tokens of its text and of its parts."""

    new: NewMessage
    text: int
    parts: int

    @property
    def tokens(self) -> int:
        """The price, with the line that says who speaks."""
        return OVERHEAD + _tokens(heading_of(self.new)) + self.text + self.parts


def priced(new: Sequence[NewMessage]) -> tuple[Priced, ...]:
    """The messages with their prices. Raises InvalidEntry with all that is wrong."""
    refuse("the message", _problems(new))
    return tuple(_priced(replace(one, content=clean(one.content))) for one in new)


def _priced(new: NewMessage) -> Priced:
    parts = json_of(list(new.parts)) if new.parts else ""
    return Priced(new, _tokens(new.content), _tokens(parts))


def _tokens(text: str) -> int:
    return count_tokens(text) if text else 0


def _problems(new: Sequence[NewMessage]) -> Iterator[Problem]:
    for number, one in enumerate(new):
        yield from problems(f"/{number}", one)
