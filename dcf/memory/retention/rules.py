"""Which rows are kept no longer. Each rule is a condition of SQL, so that what would go and what
goes is the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dcf.memory.audit.entity import Entity
from dcf.memory.database import Connection
from dcf.memory.entities import (
    BLOCK,
    CONSOLIDATION,
    LETTER,
    MESSAGE,
    PASSAGE,
    RECORDED,
    SCRATCH_PAD,
    SESSION,
    TURN,
)
from dcf.memory.garbage import Garbage, Retention

_NAMES = ", ".join(f"'{entity.name}'" for entity in RECORDED)

_LAST_OF_A_ROW = f"""
    t.entity IN ({_NAMES}) AND NOT EXISTS (
        SELECT 1 FROM events l
        WHERE l.entity = t.entity AND l.entity_id = t.entity_id AND l.seq > t.seq
    ) AND t.change -> '$.deleted' IS NULL
"""
SAYS_NOTHING = '{"changed": {}}'
EVENTS = f"t.seq <= :cut AND NOT ({_LAST_OF_A_ROW})"
"""All up to the cut, but for the last event of each row that is there: ``check`` knows by it that
the row has a right to be."""
DETAILS = f"t.seq <= :cut AND t.change <> '{SAYS_NOTHING}' AND ({_LAST_OF_A_ROW})"
"""Those last events say who and when, and no longer what."""

EVENT_BYTES = "length(CAST(t.change AS BLOB)) + coalesce(length(t.packed), 0)"

# A row that a later event speaks of may have to come back, or go, with a rollback.
_UNSPOKEN = """
    NOT EXISTS (
        SELECT 1 FROM events e
        WHERE e.entity = '{entity}' AND e.entity_id = t.id AND e.seq > :cut
    )
"""

_LETTERS = "t.state IN ('answered', 'failed', 'expired') AND t.updated_at < :letters"
_TURNS = f"""
    t.state <> 'running' AND t.updated_at < :turns AND NOT EXISTS (
        SELECT 1 FROM letters l WHERE l.id = t.letter_id AND NOT (
            :letters IS NOT NULL AND {_LETTERS.replace("t.", "l.")}
        )
    )
"""
# The last message of an agent says which number the next one has. A summary hides what it stands
# for as long as that is there.
_MESSAGES = """
    t.archived_at < :messages
    AND t.seq < (SELECT max(seq) FROM messages m WHERE m.agent_id = t.agent_id)
    AND (t.role <> 'summary' OR NOT EXISTS (
        SELECT 1 FROM messages m WHERE m.agent_id = t.agent_id AND m.archived_at IS NULL
        AND m.seq BETWEEN t.replaces_first AND t.replaces_last
    ))
"""
_PASSAGES = """
    t.id IN (SELECT id FROM (SELECT id, row_number() OVER (
        PARTITION BY agent_id ORDER BY salience DESC, reads DESC, created_at DESC, id DESC
    ) AS place FROM passages) WHERE place > :passages)
"""
# What can be undone is on record; and by the last one of an agent it is known when the next one is
# due.
_CONSOLIDATIONS = """
    t.completed_at < :consolidations
    AND NOT EXISTS (SELECT 1 FROM events e WHERE e.consolidation_id = t.id AND e.seq > :cut)
    AND NOT (
        EXISTS (SELECT 1 FROM agents a WHERE a.id = t.agent_id) AND t.id = (
            SELECT c.id FROM consolidation_sessions c WHERE c.agent_id = t.agent_id
            ORDER BY c.completed_at DESC, c.rowid DESC LIMIT 1
        )
    )
"""
_ORPHANS = """
    t.updated_at < :orphans
    AND NOT EXISTS (SELECT 1 FROM block_holders h WHERE h.block_id = t.id)
    AND NOT EXISTS (SELECT 1 FROM project_blocks p WHERE p.block_id = t.id)
"""


@dataclass(frozen=True, slots=True)
class Rule:
    """Rows of ``entity`` that go, as ``kind``: those for which ``where`` holds. ``limit`` is the
    name of the value that must be given, ``bytes`` what of a row is text."""

    kind: str
    entity: Entity
    where: str
    limit: str
    bytes: str

    def measure(self, connection: Connection, values: Mapping[str, Any]) -> Garbage:
        """How many rows go now."""
        return measured(connection, self.kind, self.entity.table, self.where, self.bytes, values)

    def doomed(
        self, connection: Connection, values: Mapping[str, Any], most: int
    ) -> list[dict[str, Any]]:
        """The rows that go, at most ``most`` of them."""
        rows = connection.execute(
            f"SELECT t.* FROM {self.entity.table} t WHERE {self.where} LIMIT :most",
            {**values, "most": most},
        )
        return [dict(row) for row in rows]


EXPIRED_PADS = Rule(
    "expired_scratch_pads",
    SCRATCH_PAD,
    "t.outcome IS NULL AND t.expires_at <= :now",
    "now",
    "length(CAST(t.value AS BLOB))",
)
ORPHAN_BLOCKS = Rule("orphan_blocks", BLOCK, _ORPHANS, "orphans", "length(CAST(t.value AS BLOB))")
LOGS = (
    Rule("turns", TURN, _TURNS, "turns", "length(CAST(coalesce(t.cause, '') AS BLOB))"),
    Rule(
        "letters",
        LETTER,
        _LETTERS,
        "letters",
        "length(CAST(t.text AS BLOB)) + length(CAST(coalesce(t.reply, '') AS BLOB))",
    ),
    Rule("sessions", SESSION, "t.ended_at < :sessions", "sessions", "0"),
    Rule("scratch_pads", SCRATCH_PAD, "t.ended_at < :pads", "pads", "0"),
    Rule(
        "messages",
        MESSAGE,
        _MESSAGES,
        "messages",
        "length(CAST(t.content AS BLOB)) + length(CAST(t.parts AS BLOB))",
    ),
    Rule("passages", PASSAGE, _PASSAGES, "passages", "length(CAST(t.text AS BLOB))"),
    Rule(
        "consolidations",
        CONSOLIDATION,
        _CONSOLIDATIONS,
        "consolidations",
        "length(CAST(t.changes AS BLOB)) + length(CAST(t.left_out AS BLOB))",
    ),
)
"""Turns before their letters: a turn stays as long as the letter that it answered."""


def rules(values: Mapping[str, Any]) -> Iterator[Rule]:
    """The rules of what is a log, or of which only the newest is kept: their rows go without an
    event, if no later event speaks of them."""
    for rule in LOGS:
        if values[rule.limit] is not None:
            unspoken = _UNSPOKEN.format(entity=rule.entity.name)
            where = f"({rule.where}) AND {unspoken}"
            yield Rule(rule.kind, rule.entity, where, rule.limit, rule.bytes)


def values_of(retention: Retention, now: int, cut: int) -> dict[str, Any]:
    """What the conditions compare with; None where nothing goes."""

    def before(span: int | None) -> int | None:
        return None if span is None else now - span

    return {
        "now": now,
        "cut": cut,
        "letters": before(retention.letters_ms),
        "turns": before(retention.turns_ms),
        "sessions": before(retention.sessions_ms),
        "pads": before(retention.scratch_pads_ms),
        "consolidations": before(retention.consolidations_ms),
        "orphans": before(retention.orphan_blocks_ms),
        "messages": before(retention.archived_messages_ms),
        "passages": retention.most_passages,
    }


def measured(
    connection: Connection,
    kind: str,
    table: str,
    where: str,
    bytes: str,
    values: Mapping[str, Any],
) -> Garbage:
    """How many rows of ``table`` are so, and what they have."""
    row = connection.execute(
        f"SELECT count(*), coalesce(sum({bytes}), 0) FROM {table} t WHERE {where}", values
    ).fetchone()
    return Garbage(kind, int(row[0]), int(row[1]))
