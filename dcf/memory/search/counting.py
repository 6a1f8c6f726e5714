"""How often documents say a word: the index keeps only whether they do, which is enough for what
people say, and too little for a page."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, TypeAlias

from dcf.late_numpy import np
from dcf.memory.database import Connection
from dcf.memory.search.place import Places
from dcf.search import TOKENIZER, segmented

if TYPE_CHECKING:
    from numpy.typing import NDArray

Counts: TypeAlias = "NDArray[np.float64]"

# The plus has SQLite look places up: else it would go through all that is of the kind.
_TEXTS = (
    "SELECT d.place, p.text FROM search_documents d JOIN document_pieces p ON p.id = d.ref"
    " WHERE +d.kind = 'document' AND d.place IN (SELECT value FROM json_each(?))"
)
_SAID = (
    "SELECT rowid, length(highlight(search_counted, 0, char(1), '')) - length(text)"
    " FROM search_counted WHERE search_counted MATCH ?"
)


def counts(connection: Connection, places: Places, words: Sequence[str]) -> Counts:
    """A row for each word, and in it how often each of the documents' ``places`` says it, in any of
    its forms."""
    cursor = connection.cursor()
    cursor.row_factory = None
    texts = cursor.execute(_TEXTS, (json.dumps(places.tolist()),)).fetchall()
    column = {place: number for number, place in enumerate(places.tolist())}
    found = np.zeros((len(words), len(places)))
    with closing(sqlite3.connect(":memory:")) as said:
        said.execute(
            f'CREATE VIRTUAL TABLE search_counted USING fts5(text, tokenize = "{TOKENIZER}")'
        )
        said.executemany(
            "INSERT INTO search_counted (rowid, text) VALUES (?, ?)",
            [(column[place], segmented(text)) for place, text in texts],
        )
        for row, word in enumerate(words):
            quoted = '"' + word.replace('"', '""') + '"'
            for number, times in said.execute(_SAID, (quoted,)):
                found[row, number] = times
    return found
