"""Taking letters out of inboxes, and what becomes of them. Each try has its number, and only the
last one may answer: a process that was away too long cannot."""

from __future__ import annotations

from typing import Any

from dcf.memory.audit.journal import Journal
from dcf.memory.checking import json_of
from dcf.memory.database import Connection
from dcf.memory.entities import LETTER
from dcf.memory.letter import Letter, LetterState
from dcf.memory.letters.errors import LetterLost, UnknownLetter
from dcf.memory.letters.rows import letter_of

MOST_TRIES = 3


def take_letter(journal: Journal, *, lease_ms: int, agent_id: str | None = None) -> Letter | None:
    """The oldest letter that can be delivered now, for ``lease_ms``.

    An agent gets its letters one after another. Letters whose time is over expire, and one whose
    takers went away three times fails: it may be what ends them.
    """
    connection, now = journal.connection, journal.at
    connection.execute(
        "UPDATE letters SET state = 'expired', taken_until = NULL, updated_at = ?"
        " WHERE deadline <= ? AND (state = 'waiting' OR state = 'taken' AND taken_until <= ?)",
        (now, now, now),
    )
    connection.execute(
        "UPDATE letters SET state = 'failed', taken_until = NULL, error = 'DCF.Undelivered',"
        " cause = 'whoever worked on it went away, ' || tries || ' times', updated_at = ?"
        " WHERE state = 'taken' AND taken_until <= ? AND tries >= ?",
        (now, now, MOST_TRIES),
    )
    row = connection.execute(
        "SELECT * FROM letters AS one WHERE (state = 'waiting' OR state = 'taken' AND"
        " taken_until <= ?1) AND (?2 IS NULL OR agent_id = ?2) AND NOT EXISTS (SELECT 1 FROM"
        " letters AS other WHERE other.agent_id = one.agent_id AND other.state = 'taken' AND"
        " other.taken_until > ?1) ORDER BY created_at, rowid LIMIT 1",
        (now, agent_id),
    ).fetchone()
    if row is None:
        return None
    taken = {
        **dict(row),
        "state": "taken",
        "tries": row["tries"] + 1,
        "taken_until": now + lease_ms,
        "updated_at": now,
    }
    return letter_of(LETTER.replace(connection, taken, dict(row)))


def keep_letter(journal: Journal, letter: Letter, *, lease_ms: int) -> None:
    """Have the letter longer. Raises LetterLost, UnknownLetter."""
    row = _taken(journal.connection, letter)
    LETTER.replace(journal.connection, {**row, "taken_until": journal.at + lease_ms}, row)


def end_letter(
    journal: Journal,
    letter: Letter,
    state: LetterState,
    *,
    reply: dict[str, Any] | None = None,
    error: str | None = None,
    cause: str | None = None,
) -> None:
    """What became of the letter; ``waiting`` gives it back. Raises LetterLost, UnknownLetter."""
    row = _taken(journal.connection, letter)
    # Who gives a letter back has not failed on it.
    tries = row["tries"] - 1 if state == "waiting" else row["tries"]
    LETTER.replace(
        journal.connection,
        {
            **row,
            "state": state,
            "tries": tries,
            "taken_until": None,
            "reply": None if reply is None else json_of(reply),
            "error": error,
            "cause": cause,
            "updated_at": journal.at,
        },
        row,
    )


def _taken(connection: Connection, letter: Letter) -> dict[str, Any]:
    row = LETTER.find(connection, letter.id)
    if row is None:
        raise UnknownLetter(letter_id=letter.id)
    if row["state"] != "taken" or row["tries"] != letter.tries:
        raise LetterLost(letter_id=letter.id, tries=row["tries"])
    return row
