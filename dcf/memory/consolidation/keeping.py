"""Putting what leaves a block into the archive, whole, where search finds it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from dcf.memory.audit.journal import Journal
from dcf.memory.passage import NewPassage
from dcf.memory.passages.changing import insert

KEPT = "consolidated"
"""The tag of passages with what blocks said. They are never merged."""
_PIECE = 3_000
"""Characters of a passage: search compares the meaning of the first 4,000."""
_MOST = 200
"""Passages for one text; those of a larger one are longer."""


def keep(journal: Journal, agent_id: str, label: str, text: str) -> int:
    """Put ``text`` of the block ``label`` into the agent's archive, in pieces of whole lines where
    that can be; how many passages that made. What stands there already is not put there again."""
    wanted = dict.fromkeys(_pieces(text))
    known = journal.connection.execute(
        "SELECT text FROM passages WHERE agent_id = ? AND text IN (SELECT value FROM json_each(?))",
        (agent_id, json.dumps(list(wanted))),
    )
    for row in known.fetchall():
        wanted.pop(row["text"], None)
    new = [
        NewPassage(piece, tags=(KEPT, f"block:{label}"), source=f"block {label}")
        for piece in wanted
    ]
    return len(insert(journal, agent_id, new)) if new else 0


def _pieces(text: str) -> Iterator[str]:
    most = max(_PIECE, len(text) // _MOST + 1)
    piece = ""
    for line in text.splitlines(keepends=True):
        if piece and len(piece) + len(line) > most:
            yield from _filled(piece)
            piece = ""
        while len(line) > most:
            yield from _filled(line[:most])
            line = line[most:]
        piece += line
    yield from _filled(piece)


def _filled(piece: str) -> Iterator[str]:
    if piece.strip():
        yield piece.strip("\n")
