"""Entries that could not be written even alone, until it is known whether that is their fault."""

from __future__ import annotations

from control_plane import OutboxEntry
from dcf.knowledge.errors import RelayStuck
from dcf.knowledge.privacy import Privacy

IN_A_ROW = 16
"""After so many entries that could not be written, and none in between that could, it is not the
entries' fault: then none is put aside."""

Subject = tuple[str, str]


def subject(entry: OutboxEntry) -> Subject:
    """What an entry is about: all hints of a run are about the same."""
    return ("run", entry.id) if entry.kind == "run" else (entry.stream, entry.entry)


class Suspects:
    """``in_a_row``: so many were convicted since an entry was written. Reasons go through
    ``privacy``."""

    def __init__(self, privacy: Privacy, in_a_row: int = 0) -> None:
        self.in_a_row = in_a_row
        self._privacy = privacy
        self._found: dict[Subject, tuple[OutboxEntry, str]] = {}
        self._written = False

    def __contains__(self, entry: OutboxEntry) -> bool:
        return subject(entry) in self._found

    def forget(self) -> None:
        """Begin anew."""
        self._found, self._written = {}, False

    def add(self, entry: OutboxEntry, reason: str) -> None:
        """``entry`` could not be written; of several about the same the first counts."""
        self._found.setdefault(subject(entry), (entry, self._privacy.text(reason)))

    def acquit_us(self) -> None:
        """An entry was written: what could not be, could not for a fault of its own."""
        self._written, self.in_a_row = True, 0

    def convicted(self) -> list[tuple[OutboxEntry, str]]:
        """Those whose own fault it is, with the reasons. Raises RelayStuck when it is ours."""
        found = list(self._found.values())
        if self._written or not found:
            return found
        count = self.in_a_row + len(found)
        if count >= IN_A_ROW:
            raise RelayStuck(count=count, reason=found[-1][1])
        self.in_a_row = count
        return found
