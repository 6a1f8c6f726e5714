"""How it stands with the extraction as a whole: stopped, paused, or at work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dcf.memory.audit.journal import Journal
from dcf.memory.database import Connection
from dcf.memory.entities import EXTRACTION_STANDING

_FIRST_MS, _LONGEST_MS = 30_000, 3_600_000
_MOST_ASKED_MS = 86_400_000
"""What a provider asks for is waited, as long as it is no more. A pause that ends later is of a
wrong clock."""


@dataclass(frozen=True, slots=True)
class Standing:
    """``stopped_reason`` says why no model is asked until somebody mends it, empty where one is;
    ``stopped_for`` is what ``Asker.identity`` said then. Before ``paused_until`` (ms) nobody asks:
    the provider was busy or away, ``pauses`` times in a row. ``refused`` counts events for which
    the queue had no room; ``pruned`` events are done and forgotten, with ``pruned_found``
    observations. Times are ms since the epoch."""

    stopped_reason: str
    stopped_for: str
    stopped_at: int | None
    paused_reason: str
    paused_until: int
    pauses: int
    refused: int
    refused_at: int | None
    pruned: int
    pruned_found: int

    @property
    def is_stopped(self) -> bool:
        """Whether no model is asked until somebody mends it."""
        return bool(self.stopped_reason)

    def is_paused(self, at: int) -> bool:
        """Whether no model is asked at this moment (ms)."""
        return at < self.paused_until <= at + _MOST_ASKED_MS


def standing_of(connection: Connection) -> Standing:
    """How it stands."""
    row = _row(connection)
    return Standing(**{name: value for name, value in row.items() if name != "id"})


def stop(journal: Journal, reason: str, identity: str) -> None:
    """No model is asked any more, as long as the one that would be has this identity."""
    stopped = {"stopped_reason": reason, "stopped_for": identity, "stopped_at": journal.at}
    _write(journal, stopped)


def pause(journal: Journal, reason: str, asked_ms: int | None) -> int:
    """Nobody asks a model for a while, which doubles from one pause to the next, and is at least
    what the provider ``asked`` for, up to a day; until when."""
    pauses: int = _row(journal.connection)["pauses"]
    wait_ms: int = max(
        min(_FIRST_MS * 2 ** min(pauses, 20), _LONGEST_MS), min(asked_ms or 0, _MOST_ASKED_MS)
    )
    until = journal.at + wait_ms
    _write(journal, {"paused_reason": reason, "paused_until": until, "pauses": pauses + 1})
    return until


def note_answer(journal: Journal) -> None:
    """The provider answered: the next pause is the first again."""
    if _row(journal.connection)["pauses"]:
        _write(journal, {"paused_reason": "", "paused_until": 0, "pauses": 0})


def resume(journal: Journal) -> None:
    """Ask again, whatever was the matter."""
    stopped = {"stopped_reason": "", "stopped_for": "", "stopped_at": None}
    _write(journal, {**stopped, "paused_reason": "", "paused_until": 0, "pauses": 0})


def note_refused(journal: Journal, events: int) -> None:
    """Count events for which the queue had no room."""
    before = _row(journal.connection)["refused"]
    _write(journal, {"refused": before + events, "refused_at": journal.at})


def note_pruned(journal: Journal, events: int, found: int) -> None:
    """Count events that are done and whose rows are gone."""
    row = _row(journal.connection)
    pruned = {"pruned": row["pruned"] + events, "pruned_found": row["pruned_found"] + found}
    _write(journal, pruned)


def _row(connection: Connection) -> dict[str, Any]:
    return dict(connection.execute("SELECT * FROM extraction_standing").fetchone())


def _write(journal: Journal, changed: dict[str, Any]) -> None:
    row = _row(journal.connection)
    EXTRACTION_STANDING.replace(journal.connection, {**row, **changed}, row)
