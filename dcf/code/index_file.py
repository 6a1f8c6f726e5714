"""The SQLite file of an index: made, opened, and made anew when it is of another form."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from dcf.code.errors import IndexDamaged, IndexTrouble

# Another number for any change of what is stored, of how files are cut, and of how names are told:
# rows are removed by what would be stored for them today.
_FORM = "11"
_BUSY_S = 60.0
_MOST_KEPT = 2
_CACHE_KIB = 8_000
"""Of pages that a connection knows."""
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


@dataclass(frozen=True, slots=True)
class _Kept:
    """A connection, and by which its file is known; None where that was not there before."""

    connection: sqlite3.Connection
    file: tuple[int, int] | None


class _Foreign(sqlite3.DatabaseError):
    """The file is a database, but none of ours, nor of a form that this SQLite knows."""


class IndexFile:
    """Connections are of one thread at a time. One that has read is kept for the next reader, with
    the pages that it knows, as long as the file is the same: one that another process replaced is
    noticed."""

    def __init__(self, path: Path, about: str) -> None:
        """``about`` is what the index is of: one of something else is made anew."""
        self.path = path
        self._form = f"{_FORM}|{about}"
        self._kept: list[_Kept] = []
        self._lock = Lock()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one moment, whoever writes meanwhile. Raises ``IndexTrouble``, and
        ``IndexDamaged`` where the file was no index and is gone: the next connection makes it."""
        file = self._file()
        with self._translated(file):
            connection = self._known(file) or self._connect()
            try:
                self._prepare(connection)
                connection.execute("BEGIN")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                connection.close()
                raise
            self._keep(_Kept(connection, file))

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection that writes, alone: all of it is kept, or nothing. Raises as ``reading``
        does."""
        with self._translated(self._file()), closing(self._connect()) as connection:
            self._prepare(connection)
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")

    def close(self) -> None:
        """Close what is kept."""
        with self._lock:
            kept, self._kept = self._kept, []
        for one in kept:
            one.connection.close()

    def _file(self) -> tuple[int, int] | None:
        """By which the file is known, if there is one."""
        try:
            status = self.path.stat()
        except OSError:  # what is wrong with it is said where it is opened
            return None
        return status.st_dev, status.st_ino

    def _known(self, file: tuple[int, int] | None) -> sqlite3.Connection | None:
        """A kept connection to this file."""
        with self._lock:
            one = self._kept.pop() if self._kept else None
        if one is None:
            return None
        if one.file == file:
            return one.connection
        one.connection.close()
        self.close()
        return None

    def _keep(self, one: _Kept) -> None:
        with self._lock:
            if one.file is not None and len(self._kept) < _MOST_KEPT:
                self._kept.append(one)
                return
        one.connection.close()

    @contextmanager
    def _translated(self, file: tuple[int, int] | None) -> Iterator[None]:
        """``file`` is the one that is opened."""
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            if _is_damage(error):
                # What another thread or process has made meanwhile is none of it.
                if self._file() == file:
                    remove_index(self.path)
                raise IndexDamaged(path=self.path, reason=str(error)) from error
            raise IndexTrouble(path=self.path, reason=str(error)) from error

    def _connect(self) -> sqlite3.Connection:
        self._make_private()
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
        )
        try:
            with _known_form():
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA cache_size = {-_CACHE_KIB}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _make_private(self) -> None:
        """Let the file be there, for its owner alone: what SQLite puts beside it is so too."""
        self.path.parent.parent.mkdir(parents=True, exist_ok=True)
        self.path.parent.mkdir(mode=0o700, exist_ok=True)
        # Never opened if it is there: closing it would take SQLite's locks from this process.
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        # One of an older version, unless another process removes it or it is another user's.
        with suppress(FileNotFoundError, PermissionError):
            mode = self.path.stat().st_mode
            if stat.S_ISREG(mode) and mode & 0o077:
                self.path.chmod(0o600)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the index if there is none. Raises ``_Foreign`` for what is none of ours."""
        with _known_form():
            if self._is_ours(connection):
                return
            connection.execute("BEGIN IMMEDIATE")
            if not self._is_ours(connection):  # no other process was faster
                for statement in _SCHEMA.split(";\n"):
                    connection.execute(statement)
                connection.execute("INSERT INTO about VALUES (?, '')", (self._form,))
        connection.execute("COMMIT")

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        """Whether all of the index is there; False where there is nothing."""
        found = connection.execute("SELECT name FROM sqlite_master").fetchall()
        if not found:
            return False
        if not {(table,) for table in _TABLES}.issubset(found):
            raise _Foreign("it has not the tables of an index")
        row = connection.execute("SELECT form FROM about").fetchone()
        if row is None or row[0] != self._form:
            raise _Foreign("it is of another version, or of another folder")
        return True


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


@contextmanager
def _known_form() -> Iterator[None]:
    """Where nothing but the file can be wrong: views or columns of another program's, a form of a
    later SQLite. Raises ``_Foreign``."""
    try:
        yield
    except sqlite3.OperationalError as error:
        # A Python without FTS5 would find it missing in each file.
        if error.sqlite_errorcode == sqlite3.SQLITE_ERROR and "no such module" not in str(error):
            raise _Foreign(str(error)) from error
        raise


def _is_damage(error: Exception) -> bool:
    """Whether the content of the file is broken, or of another program or version, not the access
    to it."""
    if not isinstance(error, sqlite3.Error):
        return False
    code = getattr(error, "sqlite_errorcode", 0)
    broken = code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    return broken or code == sqlite3.SQLITE_IOERR_SHORT_READ or isinstance(error, _Foreign)
