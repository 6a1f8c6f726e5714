"""Opening a memory file for work."""

from __future__ import annotations

import time
from contextlib import suppress

from dcf.memory.database.connection import Connection, Source, translated
from dcf.memory.database.errors import MemoryBusy
from dcf.memory.database.migration import is_empty, migrate, refuse_foreign
from dcf.memory.database.shrinking import set_up

_WAL = "PRAGMA journal_mode = WAL"
_TURN_S = 0.01


def opened(source: Source) -> Connection:
    """A connection to the file, made if it is missing, at the newest version.

    Raises a MemoryProblem.
    """
    source.make()
    connection = source.connect()
    try:
        with translated(source):
            if is_empty(connection):
                set_up(connection)
            # Before anything is written: WAL is noted in the file's first page.
            refuse_foreign(connection, source.path)
            _write_ahead(connection, source)
            migrate(connection, source.path)
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: Connection, source: Source) -> None:
    """Readers and the writer do not wait for one another. The file remembers it."""
    # SQLite does not wait for its turn here, as it does everywhere else.
    for _ in range(int(source.busy_s / _TURN_S)):
        with suppress(MemoryBusy), translated(source):
            connection.execute(_WAL).fetchone()
            return
        time.sleep(_TURN_S)
    connection.execute(_WAL).fetchone()
