"""Where names stand as they are written, in pieces that are indexed."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence

from dcf.code.rows import KnownPiece

_A_NAME = 100
"""Pieces in which one name is looked for: one that stands in more is no news."""
_MOST = 400


def naming_pieces(connection: sqlite3.Connection, names: Sequence[str]) -> list[int]:
    """Pieces with a word that may be one of ``names``."""
    found: dict[int, None] = {}
    for name in names:
        rows = connection.execute(
            f"SELECT rowid FROM words WHERE words MATCH ? LIMIT {_A_NAME}", (f'body : "{name}"',)
        )
        found.update((row, None) for (row,) in rows)
    return list(found)[:_MOST]


def lines_of(names: Sequence[str], piece: KnownPiece) -> Mapping[str, int]:
    """The names that stand in a piece as whole words, each with its first line."""
    if not names:
        return {}
    either = "|".join(map(re.escape, names))
    found: dict[str, int] = {}
    for match in re.finditer(rf"(?<!\w)(?:{either})(?!\w)", piece.text):
        if match[0] not in found:
            found[match[0]] = piece.first_line + piece.text.count("\n", 0, match.start())
    return found
