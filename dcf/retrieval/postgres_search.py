"""How texts in a PostgreSQL database are found: by words, and by meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from dcf.memory import LEAST_SIMILARITY
from dcf.retrieval.postgres_store import PostgresStore
from dcf.retrieval.ranking import worth
from dcf.retrieval.retrievers import reason
from dcf.retrieval.word_table import WORDS
from dcf.search import Embedder, name_of, query_words, spoken, words

_MOST_BYTES = 900_000
"""Of the words of one text: PostgreSQL keeps 1 MiB with their places."""
_LONGEST_WORD = 500
"""Characters; PostgreSQL keeps words of up to 2,046 bytes."""
MEANT = 4_000
"""Characters of a text that are embedded, as in the memory."""


class Meanings:
    """Vectors of the rows of a table, by their ``number``, in the table ``vectors``. ``text`` is
    what is embedded of a row ``t``. Without an ``embedder``, or where the database has no vectors,
    there are none."""

    def __init__(
        self,
        store: PostgresStore,
        embedder: Embedder | None,
        *,
        table: str,
        text: str,
        vectors: str,
    ) -> None:
        self._store = store
        self.embedder = embedder if store.has_vectors else None
        self._without = (
            f"SELECT t.number, {text} AS text FROM {table} t WHERE {{which}} AND NOT EXISTS"
            f" (SELECT FROM {vectors} v WHERE v.number = t.number AND v.embedder = $2)"
            " ORDER BY t.number LIMIT 100"
        )
        # A row may be gone by then, and another process may have been faster.
        self._give = (
            f"INSERT INTO {vectors} (embedder, number, meaning)"
            f" SELECT $1, number, $3::real[]::halfvec FROM {table} WHERE number = $2"
            " ON CONFLICT DO NOTHING"
        )
        self._like = (
            "SELECT v.number, -(v.meaning <#> $3::real[]::halfvec) AS likeness"
            f" FROM {vectors} v WHERE v.embedder = $1 AND v.number = ANY ($2::bigint[])"
        )

    @property
    def space(self) -> str:
        """Only vectors of the same one may be compared."""
        assert self.embedder is not None
        return name_of(self.embedder)

    async def give(self, which: str, argument: Any) -> None:
        """Give one to each row ``t`` that has none and for which ``which`` holds, a condition with
        the ``argument`` as $1."""
        if self.embedder is None:
            return
        while True:
            async with self._store.transaction() as connection:
                query = self._without.format(which=which)
                rows = await connection.fetch(query, argument, self.space)
            if not rows:
                return
            vectors = await asyncio.to_thread(self.embedder.embed, [row["text"] for row in rows])
            given = [
                (self.space, row["number"], vector.tolist())
                for row, vector in zip(rows, vectors, strict=True)
            ]
            async with self._store.transaction() as connection:
                await connection.executemany(self._give, given)

    async def of(self, query: str) -> list[float] | None:
        """That of a query."""
        if self.embedder is None:
            return None
        # As a text, as the memory does: without its stop words a query finds less of what was said.
        (vector,) = await asyncio.to_thread(self.embedder.embed, [query])
        numbers: list[float] = vector.tolist()
        return numbers

    async def of_rows(
        self, connection: Any, numbers: Sequence[int], query: Sequence[float]
    ) -> dict[int, float]:
        """How like the vector of a query those rows are that have one."""
        rows = await connection.fetch(self._like, self.space, numbers, query)
        return {row["number"]: row["likeness"] for row in rows}


def told(text: str) -> str:
    """The words that a text is found by, with the parts of names behind them: as many as an index
    takes."""
    whole, parts = words(text), spoken(text).split()
    left, known, told = _MOST_BYTES, set[str](), list[str]()
    for word in whole if whole == parts else whole + parts:
        one = word[:_LONGEST_WORD]
        left -= 2 if one in known else len(one.encode()) + 6
        if left < 0:
            break
        known.add(one)
        told.append(one)
    return " ".join(told)


def asked(query: str) -> str:
    """The words of ``query`` for to_tsquery: any of them. They have letters, digits and marks
    alone."""
    return " | ".join(f"'{word[:_LONGEST_WORD]}'" for word in query_words(query)[:WORDS])


def fused(
    by_words: Sequence[Any], by_meaning: Sequence[Any], likeness: Mapping[int, float]
) -> list[tuple[Any, float, str, float | None]]:
    """Rows, what they are worth, why, and their ``likeness``, which is given by their numbers, the
    best first; of two that are equal the newer one, by their ``number``. What says no word of the
    query and is hardly like it is none of them."""
    by_meaning = [row for row in by_meaning if likeness[row["number"]] >= LEAST_SIMILARITY]
    rows = {row["number"]: row for row in (*by_words, *by_meaning)}
    places: dict[int, dict[str, int]] = {number: {} for number in rows}
    for kind, found in (("words", by_words), ("meaning", by_meaning)):
        for place, row in enumerate(found, 1):
            places[row["number"]][kind] = place
    worths = {number: worth([*places[number].values()]) for number in rows}
    best = sorted(rows, key=lambda one: (-worths[one], -one))
    return [
        (rows[one], worths[one], reason(words="words" in places[one], likeness=like), like)
        for one in best
        for like in (likeness.get(one),)
    ]
