"""Texts of one process, found by the words that they say: SQLite's FTS5, in memory."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from threading import Lock

from dcf.search import query_words, segmented, spoken

WORDS = 64
"""More words of one query than these say nothing more."""
_ENOUGH = 8
"""Of a long query, as a stack trace is one, an answer says a small part."""


class WordTable:
    """Texts under numbers, each with a group that it is looked for in. Words are found in any form
    (Porter's stems), names of programs by their parts too."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._sql = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._sql.execute(
            "CREATE VIRTUAL TABLE texts USING fts5("
            " body, kept UNINDEXED, tokenize = \"porter unicode61 categories 'L* N* M* Pc'\")"
        )

    def put(self, texts: Iterable[tuple[int, str]], group: str = "") -> None:
        """Add texts under numbers that are not taken."""
        rows = [(number, _told(text), group) for number, text in texts]
        with self._lock:
            # Of many each would be written to the index by itself.
            self._sql.execute("BEGIN")
            try:
                self._sql.executemany(
                    "INSERT INTO texts (rowid, body, kept) VALUES (?, ?, ?)", rows
                )
            except BaseException:
                self._sql.execute("ROLLBACK")
                raise
            self._sql.execute("COMMIT")

    def remove(self, number: int) -> None:
        """Take a text out."""
        with self._lock:
            self._sql.execute("DELETE FROM texts WHERE rowid = ?", (number,))

    def best(self, query: str, group: str = "") -> list[int]:
        """The texts of the group that say a word of ``query``, the best by BM25 first, then the
        newest."""
        words = query_words(query)[:WORDS]
        if not words:
            return []
        wanted = " OR ".join(f'"{word}"' for word in words)
        with self._lock:
            rows = self._sql.execute(
                "SELECT rowid FROM texts WHERE texts MATCH ? AND kept = ?"
                " ORDER BY bm25(texts), rowid DESC",
                (wanted, group),
            ).fetchall()
        return [number for (number,) in rows]

    def shares(self, query: str) -> dict[int, float]:
        """How much of ``query`` each text says, from 0 to 1: the part of its words, of which
        ``_ENOUGH`` are all that need be said. Texts that say none are left out."""
        words = query_words(query)[:WORDS]
        said = Counter(chain.from_iterable(self.best(word) for word in words))
        return {
            number: min(1.0, count / min(len(words), _ENOUGH)) for number, count in said.items()
        }


def _told(text: str) -> str:
    """With the parts of names behind it."""
    parts = spoken(text)
    whole = segmented(text)
    return whole if parts == whole else f"{whole}\n{parts}"
