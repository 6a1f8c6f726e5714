"""The file of an index: texts, what words stand in them, and vectors, in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dcf.late_numpy import np
from dcf.search.document import Document, Shape
from dcf.search.embedder import STORED, Vectors
from dcf.search.errors import IndexDamaged, IndexUnusable
from dcf.search.words import TOKENIZER, spoken, words

_FORM = "4"
_BUSY_S = 60.0


class IndexFile:
    """Opened anew for each operation, so that a file that another process replaced is noticed and
    no connection is shared between threads.

    ``documents`` holds the digest of each document and of its views, ``words`` (FTS5) its fields,
    ``postings`` (a view of it) which word stands where, ``vectors`` a vector for each digest of
    views.
    """

    def __init__(self, path: Path, shape: Shape, embedder: str) -> None:
        self.path = path
        self._shape = shape
        # What makes a file another: then nothing of it can be used.
        self._about = f"{_FORM}|{embedder}|{shape.digest}"

    @contextmanager
    def open(self) -> Iterator[Opened]:
        """The file, made if it is missing, or made anew if it is of another form or embedder.

        Raises ``IndexDamaged`` after having removed a file that is damaged, ``IndexUnusable`` when
        the file cannot be used at all.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self.path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise IndexUnusable(self.path, str(error)) from error
        try:
            self._prepare(connection)
            yield Opened(connection, self._shape)
        except sqlite3.DatabaseError as error:
            connection.close()
            if _is_damage(error):
                self._remove()
                raise IndexDamaged(self.path) from error
            raise IndexUnusable(self.path, str(error)) from error
        finally:
            connection.close()

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA synchronous = NORMAL")
        if self._is_ours(connection):
            return
        connection.execute("BEGIN IMMEDIATE")
        with _ended(connection):
            if self._is_ours(connection):  # another process was faster
                return
            for table in ("postings", "words", "documents", "vectors", "about"):
                connection.execute(f"DROP TABLE IF EXISTS {table}")
            columns = ", ".join(f'"{field}"' for field in self._shape.fields)
            connection.execute("CREATE TABLE about (form TEXT, state TEXT)")
            connection.execute("INSERT INTO about VALUES (?, '')", (self._about,))
            connection.execute(
                "CREATE TABLE documents (place INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL,"
                " digest TEXT NOT NULL, views TEXT NOT NULL, length REAL NOT NULL,"
                " said INTEGER NOT NULL)"
            )
            connection.execute("CREATE TABLE vectors (views TEXT PRIMARY KEY, value BLOB NOT NULL)")
            connection.execute(
                f'CREATE VIRTUAL TABLE words USING fts5({columns}, tokenize = "{TOKENIZER}")'
            )
            connection.execute("CREATE VIRTUAL TABLE postings USING fts5vocab(words, instance)")

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'about'").fetchone()
        if not known:
            return False
        row = connection.execute("SELECT * FROM about").fetchone()
        return row is not None and row[0] == self._about

    def _remove(self) -> None:
        for path in (self.path, self.path.with_name(f"{self.path.name}-journal")):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise IndexUnusable(self.path, str(error)) from error


class Opened:
    """An open index file."""

    def __init__(self, connection: sqlite3.Connection, shape: Shape) -> None:
        self._sql = connection
        self._fields = shape.fields
        self._name = shape.name

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One writer at a time; all of it is kept, or nothing."""
        self._sql.execute("BEGIN IMMEDIATE")
        with _ended(self._sql):
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All that is read inside is of one moment, whoever writes meanwhile."""
        self._sql.execute("BEGIN")
        with _ended(self._sql):
            yield

    @property
    def state(self) -> str:
        """Changes whenever what is indexed does."""
        return str(self._sql.execute("SELECT state FROM about").fetchone()[0])

    @state.setter
    def state(self, state: str) -> None:
        self._sql.execute("UPDATE about SET state = ?", (state,))

    def digests(self) -> dict[str, str]:
        """The digest of each document by its id."""
        return dict(self._sql.execute("SELECT id, digest FROM documents"))

    def views_known(self) -> set[str]:
        """The digests of views whose vectors are here."""
        return {row[0] for row in self._sql.execute("SELECT views FROM vectors")}

    def keep_vectors(self, rows: Iterable[tuple[str, Vectors]]) -> None:
        """Add vectors by the digest of their views."""
        self._sql.executemany(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
            ((views, row.astype(STORED).tobytes()) for views, row in rows),
        )

    def drop(self, ids: Sequence[str]) -> None:
        """Remove documents."""
        for one in ids:
            row = self._sql.execute("SELECT place FROM documents WHERE id = ?", (one,)).fetchone()
            if row:
                self._sql.execute("DELETE FROM words WHERE rowid = ?", row)
                self._sql.execute("DELETE FROM documents WHERE place = ?", row)

    def add(self, documents: Iterable[Document]) -> None:
        """Add documents that are not here."""
        marks = ", ".join("?" * (len(self._fields) + 1))
        for one in documents:
            texts = [spoken(one.fields.get(field, "")) for field in self._fields]
            # A field whose words count little makes a document little longer.
            weighted = zip(texts, self._fields.values(), strict=True)
            length = sum(len(words(text)) * weight for text, weight in weighted)
            place = self._sql.execute(
                "INSERT INTO documents (id, digest, views, length, said) VALUES (?, ?, ?, ?, ?)",
                (one.id, one.digest, one.views_digest, length, len(words(one.views[0]))),
            ).lastrowid
            columns = ", ".join(f'"{field}"' for field in self._fields)
            self._sql.execute(
                f"INSERT INTO words (rowid, {columns}) VALUES ({marks})", (place, *texts)
            )

    def forget_unused_vectors(self) -> None:
        self._sql.execute("DELETE FROM vectors WHERE views NOT IN (SELECT views FROM documents)")

    def documents(self) -> list[tuple[int, str, str, float, int]]:
        """Place, id, name, weighted length of the fields and length of the first view, both in
        words, of every document, by place."""
        name = "''" if self._name is None else f'words."{self._name}"'
        return list(
            self._sql.execute(
                f"SELECT place, id, {name}, length, said FROM documents"
                " JOIN words ON words.rowid = place ORDER BY place"
            )
        )

    def vectors(self) -> Vectors:
        """The vectors of all documents, in the order of ``documents``."""
        blobs = [
            row[0]
            for row in self._sql.execute(
                "SELECT value FROM documents JOIN vectors USING (views) ORDER BY place"
            )
        ]
        rows = np.frombuffer(b"".join(blobs), dtype=STORED).astype(np.float32)
        return rows.reshape(len(blobs), -1 if rows.size else 0)

    def postings(self, term: str) -> list[tuple[int, str, int]]:
        """Where a stem stands: place, field, how often."""
        return list(
            self._sql.execute(
                "SELECT doc, col, count(*) FROM postings WHERE term = ? GROUP BY doc, col", (term,)
            )
        )


class Stemmer:
    """Cuts words down to the stems that the index holds, by the tokenizer of the index itself."""

    def __init__(self) -> None:
        self._sql = sqlite3.connect(":memory:", check_same_thread=False)
        self._sql.execute(f'CREATE VIRTUAL TABLE asked USING fts5(word, tokenize = "{TOKENIZER}")')
        self._sql.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(asked, instance)")

    def stems(self, asked: Sequence[str]) -> dict[str, str]:
        """The stems of the words, each with the word it comes from, in their order."""
        self._sql.execute("DELETE FROM asked")
        self._sql.executemany("INSERT INTO asked (rowid, word) VALUES (?, ?)", enumerate(asked))
        rows = self._sql.execute("SELECT term, doc FROM stems ORDER BY doc, offset").fetchall()
        found: dict[str, str] = {}
        for stem, place in rows:
            found.setdefault(stem, asked[place])
        return found


@contextmanager
def _ended(connection: sqlite3.Connection) -> Iterator[None]:
    """The transaction that was begun, ended with what is inside."""
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the content of the file is broken, not the access to it."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return True
    # Tables that are not as we make them: the file is somebody else's, or was changed.
    return code == sqlite3.SQLITE_ERROR and "no such" in str(error)
