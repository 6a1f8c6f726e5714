"""A file of another program, read into what a test looks at."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from dcf.memory.thread import NewTurn, Outline
from dcf.memory.threads.piece import Ended
from dcf.memory.threads.readers.tally import Tally
from dcf.memory.threads.readers.transcript import transcript


@dataclass
class Read:
    """A file that was read: the turns of each thread, and those on branches that were left."""

    tally: Tally
    format: str = ""
    outlines: dict[str, Outline] = field(default_factory=dict)
    turns: dict[str, list[NewTurn]] = field(default_factory=dict)
    left: dict[str, list[str]] = field(default_factory=dict)

    def only(self) -> tuple[Outline, list[NewTurn]]:
        """The one thread of the file."""
        ((source_id, outline),) = self.outlines.items()
        return outline, self.turns[source_id]

    def texts(self) -> list[str]:
        """What is said in all turns, with what tools put out."""
        turns = [turn for turns in self.turns.values() for turn in turns]
        return [text for turn in turns for text in (turn.text, *(one.output for one in turn.tools))]


def read(path: Path, format: str | None = None) -> Read:
    """The file at ``path``."""
    with transcript(path, format) as opened:
        found, nodes = Read(opened.tally), dict[str, list[str]]()
        for name, pieces in opened.parts:
            found.format = name
            for piece in pieces:
                if isinstance(piece, Ended):
                    source_id = piece.outline.source_id
                    found.outlines[source_id] = piece.outline
                    said = zip(
                        found.turns.get(source_id, []), nodes.get(source_id, []), strict=True
                    )
                    found.left[source_id] = [turn.text for turn, node in said if node in piece.left]
                else:
                    found.turns.setdefault(piece.source_id, []).append(piece.turn)
                    nodes.setdefault(piece.source_id, []).append(piece.node)
    return found
