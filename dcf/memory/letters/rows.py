"""Letters and their rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields

from dcf.memory.agents.finding import agent_row
from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.checking import refuse, text_problems
from dcf.memory.entities import LETTER
from dcf.memory.letter import Letter, NewLetter
from dcf.memory.letters.asking import refuse_circle
from dcf.problem import Problem


def letter_of(row: Row) -> Letter:
    """The letter in a row."""
    known = {field.name: row[field.name] for field in fields(Letter)}
    return Letter(**{**known, "reply": json.loads(row["reply"]) if row["reply"] else None})


def leave_letter(journal: Journal, new: NewLetter) -> Letter:
    """Put a letter into an inbox. Raises InvalidEntry, UnknownAgent, CircularMessage."""
    refuse("the message", problems(new))
    agent_row(journal.connection, new.agent_id)
    refuse_circle(
        journal.connection,
        sender=new.sender,
        agent_id=new.agent_id,
        correlation_id=new.correlation_id,
    )
    row = {
        "id": journal.new_id("letter"),
        "agent_id": new.agent_id,
        "sender": new.sender,
        "text": new.text,
        "correlation_id": new.correlation_id,
        "state": "waiting",
        "deadline": journal.at + new.timeout_ms,
        "tries": 0,
        "taken_until": None,
        "reply": None,
        "error": None,
        "cause": None,
        "created_at": journal.at,
        "updated_at": journal.at,
    }
    # Without an event: a letter is a log of its own, and undoing what an agent remembers must not
    # deliver it again.
    return letter_of(LETTER.insert(journal.connection, row))


def problems(new: NewLetter) -> Iterator[Problem]:
    """What is wrong with a new letter."""
    yield from text_problems("/text", new.text)
    yield from text_problems("/sender", new.sender, filled=True)
    yield from text_problems("/correlation_id", new.correlation_id, filled=True)
    if new.timeout_ms < 1:
        yield Problem(
            "memory_message_timeout", "the message has no time to be delivered", "/timeout_ms"
        )
