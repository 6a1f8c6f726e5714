"""Adding messages to a conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dcf.memory.agents.finding import agent_row
from dcf.memory.audit.journal import Journal
from dcf.memory.checking import refuse
from dcf.memory.entities import MESSAGE
from dcf.memory.message import Message, NewMessage
from dcf.memory.messages.fields import columns_of, message_of, problems
from dcf.memory.messages.finding import last_seq
from dcf.memory.messages.summaries import range_problems
from dcf.memory.search.indexing import follow_search
from dcf.problem import Problem


def append(
    journal: Journal,
    agent_id: str,
    new: Sequence[NewMessage],
    *,
    created_at: Sequence[int] | None = None,
) -> tuple[Message, ...]:
    """Add messages, numbered on from the last. ``created_at`` has their times where they are older
    than this transaction, as in a conversation that is imported.

    They are a log themselves: no events. Raises UnknownAgent, InvalidEntry with all that is wrong.
    """
    agent_row(journal.connection, agent_id)
    # In a writing transaction nobody else adds one.
    first = last_seq(journal.connection, agent_id) + 1
    refuse("the message", _problems(new))
    added = []
    for number, one in enumerate(new):
        seq = first + number
        if one.replaces is not None:
            found = range_problems(journal.connection, f"/{number}", agent_id, seq, one.replaces)
            refuse("the summary", found)
        row = {
            "id": journal.new_id("message"),
            "agent_id": agent_id,
            "seq": seq,
            **columns_of(one),
            "created_at": journal.at if created_at is None else created_at[number],
        }
        MESSAGE.insert(journal.connection, row)
        follow_search(journal.connection, MESSAGE, None, row)
        added.append(message_of(row))
    return tuple(added)


def _problems(new: Sequence[NewMessage]) -> Iterator[Problem]:
    for number, one in enumerate(new):
        yield from problems(f"/{number}", one)
