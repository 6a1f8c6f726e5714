"""The SQLite file of an index: made, opened, and made anew when it is of another form."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from dcf.code.errors import IndexTrouble

# Another number for any change of what is stored, of how files are cut, and of how names are told:
# rows are removed by what would be stored for them today.
_FORM = "7"
_BUSY_S = 60.0
# The underscore too, so that a whole name is a word. Marks belong to their letters.
_TOKENIZER = "porter unicode61 categories 'L* N* M* Pc'"
_TABLES = ("words", "vectors", "pieces", "files", "about")
_SCHEMA = f"""
CREATE TABLE about (form TEXT NOT NULL, embedder TEXT NOT NULL);
CREATE TABLE files (
  id INTEGER PRIMARY KEY, path TEXT UNIQUE NOT NULL, size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL, digest BLOB NOT NULL, problems TEXT NOT NULL
);
CREATE TABLE pieces (
  id INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER NOT NULL REFERENCES files (id),
  first_line INTEGER NOT NULL, last_line INTEGER NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
  begins TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX pieces_of_files ON pieces (file, first_line);
CREATE TABLE vectors (
  piece INTEGER PRIMARY KEY REFERENCES pieces (id), value BLOB NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5 (
  name, said, path, body, content = '', tokenize = "{_TOKENIZER}"
);
"""


class IndexFile:
    """Opened anew for each operation: a file that another process replaced is noticed, and no
    connection is shared between threads."""

    def __init__(self, path: Path, about: str) -> None:
        """``about`` is what the index is of: one of something else is made anew."""
        self.path = path
        self._form = f"{_FORM}|{about}"

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one moment, whoever writes meanwhile. Raises ``IndexTrouble``."""
        with self._open() as connection:
            connection.execute("BEGIN")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection that writes, alone: all of it is kept, or nothing. Raises
        ``IndexTrouble``."""
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._connect()
            with closing(connection):
                yield connection
        except (OSError, sqlite3.Error) as error:
            if _is_damage(error):
                self._remove()
                reason = "it was damaged and has been removed; bring it up to date again"
                raise IndexTrouble(path=self.path, reason=reason) from error
            raise IndexTrouble(path=self.path, reason=str(error)) from error

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if self._is_ours(connection):
            return
        connection.execute("BEGIN IMMEDIATE")
        if not self._is_ours(connection):  # no other process was faster
            for table in _TABLES:
                connection.execute(f"DROP TABLE IF EXISTS {table}")
            for statement in _SCHEMA.split(";\n"):
                connection.execute(statement)
            connection.execute("INSERT INTO about VALUES (?, '')", (self._form,))
        connection.execute("COMMIT")

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'about'").fetchone()
        if not known:
            return False
        row = connection.execute("SELECT form FROM about").fetchone()
        return row is not None and row[0] == self._form

    def _remove(self) -> None:
        with suppress(IndexTrouble):
            remove_index(self.path)


def texts_in(path: Path) -> Iterator[str]:
    """All texts of the index in the file ``path``, and its bytes, in which removed rows may be
    still; of a file that is damaged only these. Raises ``IndexTrouble``."""
    with _there(path):
        for part in _parts(path):
            yield part.read_bytes().decode("utf-8", "replace")
    with suppress(sqlite3.Error), closing(sqlite3.connect(path, timeout=_BUSY_S)) as connection:
        yield from (row[0] for row in connection.execute("SELECT path FROM files"))
        for row in connection.execute("SELECT name, begins, text FROM pieces"):
            yield from row


def remove_index(path: Path) -> None:
    """Remove the index in the file ``path``: it is made anew from the files. Raises
    ``IndexTrouble``."""
    with _there(path):
        for part in _parts(path):
            part.unlink(missing_ok=True)


@contextmanager
def _there(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise IndexTrouble(path=path, reason=error.strerror or error) from error


def _parts(path: Path) -> list[Path]:
    beside = (path.with_name(path.name + ending) for ending in ("", "-wal", "-shm"))
    return [one for one in beside if one.exists()]


def _is_damage(error: Exception) -> bool:
    """Whether the content of the file is broken, not the access to it."""
    if not isinstance(error, sqlite3.Error):
        return False
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
