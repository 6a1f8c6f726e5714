"""Turns: what stands in a context together or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dcf.memory.messages.pairs import parts_of

_BEGINNING = ("user", "system", "summary")


@dataclass(frozen=True, slots=True)
class Turn:
    """The rows of a turn: what was said to the agent and all that it did about it. A summary is one
    by itself."""

    rows: tuple[Mapping[str, Any], ...]

    @property
    def tokens(self) -> int:
        return sum(row["tokens"] for row in self.rows)

    @property
    def seqs(self) -> tuple[int, ...]:
        return tuple(row["seq"] for row in self.rows)

    @property
    def is_summary(self) -> bool:
        return bool(self.rows[0]["role"] == "summary")

    @property
    def span(self) -> tuple[int, int]:
        """The first and last message that it is, or stands for."""
        firsts = [row["replaces_first"] or row["seq"] for row in self.rows]
        lasts = [row["replaces_last"] or row["seq"] for row in self.rows]
        return min(firsts), max(lasts)


def turns_of(rows: Sequence[Mapping[str, Any]]) -> list[Turn]:
    """The turns of a conversation. One ends where somebody speaks to the agent again, unless a tool
    call is still waiting for its return."""
    turns: list[list[Mapping[str, Any]]] = []
    waiting: set[str] = set()
    for row in rows:
        begins = row["role"] in _BEGINNING or (turns and turns[-1][0]["role"] == "summary")
        if not turns or (begins and not waiting):
            turns.append([])
        turns[-1].append(row)
        for part in parts_of(row):
            if part["kind"] == "call":
                waiting.add(part["id"])
            else:
                waiting.discard(part["id"])
    return [Turn(tuple(one)) for one in turns]
