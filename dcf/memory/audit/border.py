"""How far back history goes: old events are given up, and nothing goes back beyond them."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.memory.database import Connection
from dcf.memory.errors import MemoryProblem


class HistoryForgotten(MemoryProblem):
    """{what} cannot be undone: events up to {border} were given up by garbage collection."""

    code = "memory_history_forgotten"
    hint = "the oldest moment that is known is just after event {border}; backups may be older"

    def __init__(self, what: str, border: int) -> None:
        self.border = border
        self.hint = type(self).hint.format(border=border)
        super().__init__(what=what, border=border)


class TextForgotten(MemoryProblem):
    """What {what} was is forgotten for good, as receipt {receipt_id} says."""

    code = "memory_text_forgotten"
    hint = "`dcf memory receipts {receipt_id}` says who had it forgotten, and when"

    def __init__(self, what: str, receipt_id: str) -> None:
        self.hint = type(self).hint.format(receipt_id=receipt_id)
        super().__init__(what=what, receipt_id=receipt_id)


def border_of(connection: Connection) -> int:
    """The newest event that was given up; 0 if none ever was."""
    return int(connection.execute("SELECT seq FROM history_border").fetchone()[0])


def refuse_beyond(connection: Connection, seq: int) -> None:
    """Raises HistoryForgotten unless all that came after event ``seq`` is known."""
    border = border_of(connection)
    if seq < border:
        raise HistoryForgotten(f"what came after event {seq}", border)


def refuse_forgotten(connection: Connection, consolidation_id: str) -> None:
    """Raises HistoryForgotten if an event of the consolidation was given up."""
    found = connection.execute(
        "SELECT 1 FROM forgotten_consolidations WHERE id = ?", (consolidation_id,)
    ).fetchone()
    if found is not None:
        raise HistoryForgotten(f"consolidation {consolidation_id}", border_of(connection))


def refuse_missing(connection: Connection, seqs: Sequence[int]) -> None:
    """Raises HistoryForgotten if one of these events was given up, or what stood before it."""
    border = border_of(connection)
    missing = [str(seq) for seq in sorted(set(seqs)) if 0 < seq <= border]
    if missing:
        raise HistoryForgotten(f"event {', '.join(missing[:5])}", border)
