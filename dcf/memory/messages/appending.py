"""Adding messages to a conversation."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.memory.agents.finding import agent_row
from dcf.memory.audit.journal import Journal
from dcf.memory.checking import refuse
from dcf.memory.entities import MESSAGE
from dcf.memory.message import Message
from dcf.memory.messages.fields import columns_of, message_of
from dcf.memory.messages.finding import last_seq
from dcf.memory.messages.pricing import Priced
from dcf.memory.messages.summaries import range_problems
from dcf.memory.search.indexing import follow_search


def append(
    journal: Journal,
    agent_id: str,
    new: Sequence[Priced],
    *,
    created_at: Sequence[int] | None = None,
) -> tuple[Message, ...]:
    """Add messages, numbered on from the last. ``created_at`` has their times where they are older
    than this transaction, as in a conversation that is imported.

    They are a log themselves: no events. Raises UnknownAgent, InvalidEntry for a summary of what it
    may not stand for.
    """
    agent_row(journal.connection, agent_id)
    # In a writing transaction nobody else adds one.
    first = last_seq(journal.connection, agent_id) + 1
    added = []
    for number, one in enumerate(new):
        seq = first + number
        span = one.new.replaces
        if span is not None:
            found = range_problems(journal.connection, f"/{number}", agent_id, seq, span)
            refuse("the summary", found)
        row = {
            "id": journal.new_id("message"),
            "agent_id": agent_id,
            "seq": seq,
            **columns_of(one.new, one.tokens),
            "created_at": journal.at if created_at is None else created_at[number],
        }
        kept = MESSAGE.insert(journal.connection, row)
        follow_search(journal.connection, MESSAGE, [(None, kept)])
        added.append(message_of(kept))
    return tuple(added)
