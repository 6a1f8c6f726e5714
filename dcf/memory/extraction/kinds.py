"""Kinds of events, and who takes which next.

The queue names the source of an event by its ``source_type``. Conversations of sessions have
another one there than their observations have: the marks of ``session`` are given up after a while
by whoever looks at tasks, and a turn must not come again by that.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from dcf.memory.audit.journal import Journal
from dcf.memory.entities import EXTRACTION_EVENT
from dcf.memory.extraction.claims import RUN, Claim, claim_of

Kind: TypeAlias = Literal["runs", "threads", "sessions", "agents"]
KINDS: tuple[Kind, ...] = get_args(Kind)
CONVERSATION = "conversation"
AGENT = "agent"
_LONGEST_MS = 86_400_000
"""What is to wait longer than that from now was written by a wrong clock."""
_LEASES = 10
"""A claim that ends later than so many leases from now was written by one, too: whoever has it and
lives has renewed it since."""

_NEXT = f"""
    SELECT * FROM extraction_events WHERE ((state = 'waiting' AND (due <= ?1 OR due > ?2))
    OR (state = 'claimed' AND (until <= ?1 OR until > ?3)))
    AND (?4 IS NULL OR ?4 = CASE source_type WHEN '{RUN}' THEN 'runs'
    WHEN '{CONVERSATION}' THEN 'sessions' WHEN '{AGENT}' THEN 'agents' ELSE 'threads' END)
    ORDER BY due, number LIMIT 1
"""


def take(journal: Journal, lease_ms: int, most_begun: int, of: Kind | None) -> Claim | None:
    """The next event (None: ``of`` any kind) that nobody has, for ``lease_ms``; None where there is
    none. One that was begun ``most_begun`` times and never ended is set aside."""
    connection, now = journal.connection, journal.at
    given = (now, now + _LONGEST_MS, now + _LEASES * lease_ms, of)
    while (found := connection.execute(_NEXT, given).fetchone()) is not None:
        row = dict(found)
        if row["begun"] < most_begun:
            begun = {"fence": row["fence"] + 1, "begun": row["begun"] + 1}
            claimed = {**row, **begun, "state": "claimed", "until": now + lease_ms}
            return claim_of(
                EXTRACTION_EVENT.replace(connection, {**claimed, "updated_at": now}, row)
            )
        why = row["reason"] or "whoever worked on it died"
        reason = f"it was begun {row['begun']} times: {why}"
        aside = {**row, "state": "set_aside", "until": 0, "reason": reason, "updated_at": now}
        EXTRACTION_EVENT.replace(connection, aside, row)
    return None
